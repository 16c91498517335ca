import { DateTime } from 'luxon';

/** An expression, taken apart as n8n does. */
type Template = {
	/** What is in each pair of curly brackets. */
	codes: string[];
	/** The text around them. */
	text: string;
};

/** Where a text has the words that JavaScript and luxon write for what is no text. */
const UNREADABLE = /\[object \w+\]|Invalid Date/;

/** The same words and nothing else: by themselves nobody writes them. */
const NOTHING_READABLE = /^\s*(?:\[object \w+\]|Invalid Date(?:Time)?)\s*$/;

/** @param expression as n8n keeps it, with `=` before it */
function parseTemplate(expression: string): Template {
	const [before = '', ...rest] = expression.slice(1).split('{{');
	const parts = rest.map((part) => {
		const end = part.indexOf('}}');
		return end < 0
			? { code: part, after: '' }
			: { code: part.slice(0, end), after: part.slice(end + 2) };
	});
	return {
		codes: parts.map(({ code }) => code),
		text: before + parts.map(({ after }) => after).join(''),
	};
}

/** Whether all expressions of a text returned nothing, so that only the text around them is left. */
export function isOnlyTextAround(value: unknown, expression: string): boolean {
	const { codes, text } = parseTemplate(expression);
	const around = text.trim();
	return codes.length > 0 && around !== '' && typeof value === 'string' && value.trim() === around;
}

/**
 * What a text was made of that can't be read, such as an object, which n8n writes out as "[object Object]";
 * `undefined` if there is none. The data itself may have these words, so each expression of the text is looked at.
 *
 * @param evaluate what one expression returns; without it, the words themselves count
 */
export function unreadableIn(
	value: string,
	expression: string,
	evaluate?: (code: string) => unknown,
): unknown {
	if (!UNREADABLE.test(value)) return undefined;
	const { codes, text } = parseTemplate(expression);
	if (NOTHING_READABLE.test(value) || (text !== '' && evaluate === undefined)) return value;
	if (evaluate === undefined || (text === '' && codes.length === 1)) return undefined;
	// A backslash hides brackets from n8n, so these may not be its codes.
	if (expression.includes('\\')) return value;
	return codes.map((code) => evaluate(code)).find(isUnreadable);
}

function isUnreadable(value: unknown): boolean {
	if (typeof value === 'string') return NOTHING_READABLE.test(value);
	if (DateTime.isDateTime(value)) return !value.isValid;
	if (value instanceof Date) return Number.isNaN(value.getTime());
	if (Array.isArray(value)) return value.some(isUnreadable);
	return typeof value === 'object' && value !== null;
}
