import { DateTime } from 'luxon';

/** A parsed expression. */
type Template = {
	/** The code in each pair of curly brackets. */
	codes: string[];
	/** The text around them. */
	text: string;
};

/** The text that JavaScript and Luxon write for values that aren't text. */
const UNREADABLE = /\[object \w+\]|Invalid Date/;

/** Only that text, which real data doesn't have. */
const NOTHING_READABLE = /^\s*(?:\[object \w+\]|Invalid Date(?:Time)?)\s*$/;

/** @param expression with the leading `=` */
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

/** Whether all expressions of a text returned nothing, so that only the text around them remains. */
export function isOnlyTextAround(value: unknown, expression: string): boolean {
	const { codes, text } = parseTemplate(expression);
	const around = text.trim();
	return codes.length > 0 && around !== '' && typeof value === 'string' && value.trim() === around;
}

/**
 * Finds a value that isn't text in a text, such as an object, which n8n writes as "[object Object]". The data may have
 * this text itself, so each expression of the text is evaluated.
 *
 * @param evaluate evaluates one expression. Without it, the text decides.
 * @returns undefined if there is none
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
	// A backslash escapes brackets in n8n, so the parsed codes may be wrong.
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
