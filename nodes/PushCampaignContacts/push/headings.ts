import { normalized, withoutEnd, withoutInvisible } from '../../core/values/text';
import { named, quoted } from '../../core/values/values';

/** The most columns that a message names. */
export const MAX_LISTED_COLUMNS = 20;

const DASHES = /[\p{Pd}\u2212]/gu;
const SINGLE_QUOTES = /[\u2018\u2019\u02bc]/g;
/** Other digits than those of a number, such as ². NFKC would make 2 of it. */
const OTHER_DIGIT = /\p{No}/u;
/** `-1` after a space is a negative number, and a hyphen at the end may be a sign, as of a blood group. */
const SEPARATOR = /(?<=[\p{L}\p{M}\p{N}])(?:[ _]+|-| - )(?=[\p{L}\p{M}\p{N}])/gu;
const BETWEEN_DIGITS = /(?<=\p{N})(?:[ _]+|-| - )(?=\p{N})/gu;
const SPACE_AT_SYMBOL = /(?<![\p{L}\p{M}\p{N}]) | (?![\p{L}\p{M}\p{N}])/gu;
/** As in "Mobile No." */
const ENDING = /[.: ]/;

/** Such as "Student Mobile No.", "WhatsApp", "Cell 1", and "Phone (Primary)". Not of another person, such as "Father Mobile". */
const OF_PHONES =
	/^(?:primary|main|registered|student|customer|client|lead|patient|candidate|applicant|member|guest|user|buyer)?'?s?(?:(?:mobile|cell|contact)?(?:phone|telephone)|mobile|mob|cell|tel|ph|whatsapp|(?:contact|phone)(?=n|#|mobile)(?:mobile)?)(?:number|num|no|#)?(?:1|\((?:primary|main|mobile|whatsapp)\))?$/;

/** Whether a heading is a usual one for phone numbers. */
export function isPhoneHeading(name: string): boolean {
	return OF_PHONES.test(comparableHeading(name).replace(/[.\s]/g, ''));
}

/**
 * Equal for two spellings of one heading. Ignored is only what no two columns of a table differ in: case, invisible
 * characters, spaces, how words are separated, and a dot or colon at the end. Marks are parts of letters (`पिता` isn't
 * `पता`), and symbols distinguish columns (`Q1.1` and `Q11`, `Price (₹)` and `Price ($)`).
 */
export function comparableHeading(name: string): string {
	const visible = withoutInvisible(name);
	const text = normalized(visible, OTHER_DIGIT.test(visible) ? 'NFC' : 'NFKC')
		.toLowerCase()
		.replace(DASHES, '-')
		.replace(SINGLE_QUOTES, "'")
		.replace(/\s+/g, ' ')
		.trim();
	return withoutEnd(text, ENDING)
		.replace(BETWEEN_DIGITS, '\n')
		.replace(SEPARATOR, '')
		.replace(SPACE_AT_SYMBOL, '');
}

/** Templates mark the columns that must be filled in: "Phone *". */
const REQUIRED_MARK = /[* ]/;

export const unmarked = (column: string) => withoutEnd(column, REQUIRED_MARK);

export function quotedColumns(columns: Iterable<string>): string {
	return named([...columns], quoted, MAX_LISTED_COLUMNS);
}
