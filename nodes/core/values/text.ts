/*
 * Texts from outside may have any length. These functions take linear time, where the usual JavaScript takes quadratic
 * time.
 */

/** Removes matching characters at the end. `/x+$/` would take quadratic time. */
export function withoutEnd(text: string, character: RegExp): string {
	let end = text.length;
	while (end > 0 && character.test(text.charAt(end - 1))) end--;
	return text.slice(0, end);
}

/** Zero-width spaces, soft hyphens, marks of the text direction, and selectors of an emoji's look. */
const INVISIBLE = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\ufe0e|\ufe0f/g;

/** Removes invisible characters without meaning, such as those that are copied from web pages and chats. */
export function withoutInvisible(text: string): string {
	return text.replace(INVISIBLE, '');
}

const NOT_ASCII = /[^\0-\x7f]/;
const DIGIT = /\p{Nd}/u;
const OTHER_DIGITS = /(?!\d)\p{Nd}/gu;

/** Writes the digits of other scripts, such as ९ and ٩, as 0 to 9, and their separators as dot and comma. */
export function withLatinDigits(text: string): string {
	if (!NOT_ASCII.test(text)) return text;
	return text
		.replace(OTHER_DIGITS, (digit) => String(digitValue(digit)))
		.replaceAll('\u066b', '.')
		.replaceAll('\u066c', ',');
}

/** In Unicode, the ten digits of a script follow each other, and a few scripts do, too. */
function digitValue(digit: string): number {
	const code = digit.codePointAt(0) ?? 0;
	let first = code;
	while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
	return (code - first) % 10;
}

const MARKS = /[\p{M}\uff9e\uff9f]+/gu;

/** The limit of Unicode's stream-safe format (UAX #15). No language needs as many marks on a letter. */
const MAX_MARKS = 30;

/** Normalizes Unicode. Drops excess marks, because sorting the marks of a letter takes quadratic time. */
export function normalized(text: string, form: 'NFC' | 'NFKC' = 'NFKC'): string {
	return text.replace(MARKS, (marks) => firstCharacters(marks, MAX_MARKS)).normalize(form);
}

/** The first `max` characters as code points. Splits only as much of the text as necessary. */
export function firstCharacters(text: string, max: number): string {
	return [...text.slice(0, 2 * max)].slice(0, max).join('');
}

/** Equal for two spellings of one answer: in another case, with spaces around it, or in other characters for one letter. */
export function comparable(value: string | number | boolean): string {
	return normalized(withoutInvisible(String(value)), 'NFC')
		.trim()
		.toLowerCase();
}
