import escapeRegExp from 'lodash/escapeRegExp';

/**
 * Patterns that find a secret of few characters in any encoding, and also its start, because the text may be truncated.
 *
 * @param leastLength the shortest start that counts
 */
export function secretPatterns(secret: string, leastLength: number): RegExp[] {
	const bytes = [...Buffer.from(secret)];
	return [
		// Case-insensitive, because hexadecimal digits can have either case.
		new RegExp(anyBeginning([...secret].map(eitherOf), leastLength), 'gi'),
		new RegExp(anyBeginning(bytes.map(hexOf), leastLength), 'gi'),
		...ALIGNMENTS.map((before) => new RegExp(inBase64(bytes, before, leastLength), 'g')),
	];
}

/** All of a sequence, or its start. */
function anyBeginning(units: readonly string[], least: number): string {
	const more = units.slice(least).reduceRight((rest, unit) => `(?:${unit}${rest})?`, '');
	return units.slice(0, least).join('') + more;
}

const eitherOf = (char: string): string => `(?:${formsOf(char).join('|')})`;

/** A byte in a dump, with the separator before it: `74`, `:74`, `, 0x74`. */
const hexOf = (byte: number, at: number): string =>
	`${at === 0 ? '' : '[\\s:,-]{0,2}'}(?:0x)?${hex(byte, 2)}`;

/** Offsets of a text in a group of three bytes, for which base64 gives different characters. */
const ALIGNMENTS = [0, 1, 2];

/** Base64 or base64url, with the characters at both ends that share bits with the text around it. */
function inBase64(secret: readonly number[], before: number, leastLength: number): string {
	const text = Buffer.from([...Array<number>(before).fill(0), ...secret]).toString('base64');
	const wholeCharacters = Math.floor(((before + secret.length) * 8) / 6);
	const own = text.slice(Math.ceil((before * 8) / 6), wholeCharacters);
	const leastCharacters = Math.floor((leastLength * 8) / 6);
	const units = [...own].map((char) => `${BASE64_FORMS[char] ?? char}${LINE_BREAK}`);
	const beginning = before === 0 ? '' : '[\\w+/-]?';
	return beginning + anyBeginning([...units, '[\\w+/-]?(?:=|%(?:25)*3[dD]){0,2}'], leastCharacters);
}

/** Base64 may have line breaks, which are escaped in nested JSON. */
const LINE_BREAK = '(?:(?:\\r|\\\\{1,8}r)?(?:\\n|\\\\{1,8}n))?';

const BASE64_FORMS: { [char: string]: string } = {
	'+': '(?:[+-]|%(?:25)*2[bB])',
	'/': '(?:\\\\{0,8}[/_]|%(?:25)*2[fF])',
};

/** The encodings of a character, also nested: `%2541`, `&amp;#65;`. */
function formsOf(char: string): string[] {
	const code = char.codePointAt(0) ?? 0;
	const units = char.split('').map((unit) => `\\\\{1,8}u${hex(unit.charCodeAt(0), 4)}`);
	// Plain characters come last, because an ampersand also begins each entity.
	return [
		`&(?:amp;)*#0*${code};`,
		`&(?:amp;)*#x0*${hex(code, 1)};`,
		...(NAMED_ENTITIES[char] ?? []).map((name) => `&(?:amp;)*${name};`),
		`%(?:25)*${hex(code, 2)}`,
		units.join(''),
		`\\\\{1,8}x${hex(code, 2)}`,
		`\\\\{1,8}${escapeRegExp(char)}`,
		escapeRegExp(char),
	];
}

const NAMED_ENTITIES: { [char: string]: string[] } = {
	'&': ['amp'],
	'<': ['lt'],
	'>': ['gt'],
	'"': ['quot'],
	"'": ['apos'],
};

function hex(code: number, digits: number): string {
	return code.toString(16).padStart(digits, '0');
}
