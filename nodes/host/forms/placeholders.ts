import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { nameIn, PLACEHOLDER } from '../../core/values/sheetCells';
import { quoted } from '../../core/values/values';
import { type Fields, MAY_BE_BLANK } from './fields';
import { isFromModel } from './fieldValue';

/** Rejects what an agent would say as it is. A cell with only a placeholder has no value. The label is as in messages. */
export function requireReplaced(label: string, expression: string, text: string): void {
	const all = text.match(PLACEHOLDER) ?? [];
	const ofN8n = all.find((one) => one.startsWith('{{') && one.includes('$'));
	if (expression === '' && ofN8n !== undefined) {
		const message = `${label} has ${quoted(ofN8n)}, but the field is set to Fixed`;
		throw new InvalidInput(message, onScreenOnly('Above the field, choose Expression.'));
	}
	const [found] = all;
	const isTyped = expression === '' || expression.includes(found ?? '');
	if (found === undefined || (!isTyped && text.replace(PLACEHOLDER, '').trim() === '')) return;
	throw new InvalidInput(`${label} has the placeholder ${quoted(found)}, which nobody replaced`, {
		onScreen: isTyped
			? "It's of another tool. Above the field, choose Expression, and drag the column with the value here."
			: 'Correct the cell, or the earlier node that wrote it.',
		forModel: isFromModel(expression) ? 'Write the value, or leave it out.' : '',
	});
}

/** The name in *Person Name*. That of a row may have a placeholder, which isn't a part of it. */
export function readPersonName(form: Fields | undefined): string {
	const text = form?.text('personName', MAY_BE_BLANK) ?? '';
	if (form?.expression('personName') === '') requireReplaced("'Person Name'", '', text);
	return nameIn(text);
}
