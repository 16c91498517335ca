import { InvalidInput } from '../../core/service/errors';
import { FOR_THE_OWNER } from '../../core/service/resolution';
import { hasNoValue, isNoValue } from '../../core/values/sheetCells';
import { withoutEnd } from '../../core/values/text';
import { quoted } from '../../core/values/values';
import { isFromModel } from '../../host/forms/fieldValue';
import { requireReplaced } from '../../host/forms/placeholders';

/**
 * The agent says these texts as they are.
 *
 * @param expression empty if the text is fixed
 * @throws InvalidInput if it has a placeholder, or the expression left a gap or put a word such as NULL into a longer text
 */
export function requireSayable(label: string, expression: string, text: string): void {
	requireReplaced(`'${label}'`, expression, text);
	if (expression === '' || hasNoValue(text)) return;
	// The other values of the expression are those of the row.
	const forModel = isFromModel(expression)
		? `If you gave a value for it, correct that. If you did not: ${FOR_THE_OWNER}`
		: '';
	const word = wordWithoutValue(text);
	if (word !== undefined) {
		throw new InvalidInput(`'${label}' has the word ${quoted(word)} instead of a value`, {
			onScreen: 'The agent would say it. Check the cells that the expression uses.',
			forModel,
		});
	}
	if (hasGap(expression, text)) {
		throw new InvalidInput(
			`'${label}' has a gap, because an expression in it is empty (got ${quoted(text)})`,
			{
				onScreen:
					"Fill the column. Or for people without a value, write the space into the expression, such as Hello{{ $json.name ? ' ' + $json.name : '' }}, this is Priya.",
				forModel,
			},
		);
	}
}

const WORDS = /Invalid date\b|[^\s,;:"()]+/g;
const ENDING = /[.!?]/;

function wordWithoutValue(text: string): string | undefined {
	const words = [...text.matchAll(WORDS)].flatMap(([word]) => [word, withoutEnd(word, ENDING)]);
	// `#REF!.` ends with a dot.
	return words.flatMap((word) => [word, word.slice(0, -1)]).find(isNoValue);
}

const SPACE = /\s/;
const BEGINS_WITH_MORE = /^[\s.,;:!?]/;

/** Whether an expression returned nothing where the text around it has room for a word: `Hello , this is Priya`. */
function hasGap(expression: string, text: string): boolean {
	const [start = '', ...parts] = expression.slice(1).trim().split('{{');
	if (!text.startsWith(start)) return false;
	let at = start.length;
	for (const part of parts) {
		const after = part.slice(part.indexOf('}}') + 2);
		const isAfterSpace = at === 0 || SPACE.test(text.charAt(at - 1));
		if (isAfterSpace && BEGINS_WITH_MORE.test(after) && text.startsWith(after, at)) return true;
		const next = text.indexOf(after, at);
		if (next < 0) return false;
		at = next + after.length;
	}
	return false;
}
