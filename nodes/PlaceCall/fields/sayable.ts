import { InvalidInput } from '../../core/service/errors';
import { hasNoValue, isNoValue } from '../../core/values/sheetCells';
import { withoutEnd } from '../../core/values/text';
import { quoted } from '../../core/values/values';
import { requireReplaced } from '../../host/forms/placeholders';

const WORDS = /Invalid date\b|[^\s,;:"()]+/g;
const ENDING = /[.!?]/;

/**
 * The agent says these texts as they are.
 *
 * @param expression empty if the text is fixed
 * @throws InvalidInput if it has a placeholder, or the expression put a word such as NULL into a longer text
 */
export function requireSayable(label: string, expression: string, text: string): void {
	requireReplaced(`'${label}'`, expression, text);
	if (expression === '' || hasNoValue(text)) return;
	const words = [...text.matchAll(WORDS)].flatMap(([word]) => [word, withoutEnd(word, ENDING)]);
	// `#REF!.` ends with a dot.
	const word = words.flatMap((one) => [one, one.slice(0, -1)]).find(isNoValue);
	if (word === undefined) return;
	throw new InvalidInput(
		`'${label}' has the word ${quoted(word)} instead of a value`,
		`Correct '${label}', or the cells that its expression uses. The agent would say the word.`,
	);
}
