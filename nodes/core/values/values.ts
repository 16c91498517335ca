import { firstCharacters } from './text';

const QUOTED_CHARACTERS = 60;

/** A value in double quotes for a message, shortened. */
export function quoted(value: unknown): string {
	// A date is a text in JSON.
	const text = typeof value === 'string' ? value : JSON.stringify(value).replace(/^"|"$/g, '');
	const short = firstCharacters(text, QUOTED_CHARACTERS);
	return short.length < text.length ? `"${short}…"` : `"${text}"`;
}

/** Longer than any message of these nodes with the text of the service. */
const MAX_SHOWN_CHARACTERS = 4_000;

/** Characters that move the cursor of a terminal or change the text direction. */
const UNSEEN = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Unpaired surrogates. */
const HALF = /\p{Surrogate}/gu;

/** The start of an HTML tag. n8n renders hints and error descriptions as HTML. */
const TAG = /<(?=[a-z/!?])/gi;

/** Makes a text from outside safe to display. */
export function displayText(text: string): string {
	const short =
		text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
	return short.replace(HALF, '\ufffd').replace(UNSEEN, '').replace(TAG, '‹');
}

/** Whether a value is empty, such as the result of an expression for a blank cell. */
export function isUnset(value: unknown): boolean {
	return (
		value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
	);
}

/** A text or a number as text. Empty for any other value. */
export function plainText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** What a thrown value says. It can be any value. */
export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Joins the parts of a sentence: `a`, `a and b`, `a, b, and c`. */
export function joinedWithAnd(parts: readonly string[]): string {
	return new Intl.ListFormat('en').format(parts);
}

/** "1 row", "2,000 rows" */
export function counted(count: number, noun: string): string {
	return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Maximum number of names in a message. The others are counted. */
export const MAX_NAMED = 50;

/** Lists names for a message. */
export function named<T>(
	things: readonly T[],
	nameOf: (thing: T) => string,
	max = MAX_NAMED,
): string {
	const names = things.slice(0, max).map(nameOf);
	const more = things.length - names.length;
	return `${names.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** Parses names separated by commas or line breaks. An expression may return several texts. */
export function parseList(text: string | readonly string[]): string[] {
	const texts = typeof text === 'string' ? [text] : text;
	return texts
		.flatMap((one) => one.split(/[,\n]/))
		.map((name) => name.trim())
		.filter((name) => name !== '');
}

/** The value of a field as text, trimmed. Objects become JSON. */
export function asText(value: unknown): string {
	if (value === undefined || value === null) return '';
	return typeof value === 'string' ? value.trim() : JSON.stringify(value);
}
