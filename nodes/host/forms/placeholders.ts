import { InvalidInput } from '../../core/service/errors';
import { nameIn, PLACEHOLDER } from '../../core/values/sheetCells';
import { quoted } from '../../core/values/values';
import { type Fields, MAY_BE_BLANK } from './fields';

/** Rejects what an agent would say as it is. A cell with only a placeholder has no value. The label is as in messages. */
export function requireReplaced(label: string, expression: string, text: string): void {
	const all = text.match(PLACEHOLDER) ?? [];
	const ofN8n = all.find((one) => one.startsWith('{{') && one.includes('$'));
	if (expression === '' && ofN8n !== undefined) {
		const message = `${label} has ${quoted(ofN8n)}, but the field is set to Fixed`;
		throw new InvalidInput(message, 'In n8n, choose Expression above the field.');
	}
	const [found] = all;
	const isTyped = expression === '' || expression.includes(found ?? '');
	if (found === undefined || (!isTyped && text.replace(PLACEHOLDER, '').trim() === '')) return;
	const message = `${label} has the placeholder ${quoted(found)}, which nobody replaced`;
	throw new InvalidInput(
		message,
		isTyped
			? 'In n8n, choose Expression above the field, and drag the column with the value here. The placeholder is of another tool.'
			: 'Write the value instead, such as in the cell that it comes from, or leave it out.',
	);
}

/** The name in *Person Name*. That of a row may have a placeholder, which isn't a part of it. */
export function readPersonName(form: Fields): string {
	const text = form.text('personName', MAY_BE_BLANK);
	if (form.expression('personName') === '') requireReplaced("'Person Name'", '', text);
	return nameIn(text);
}
