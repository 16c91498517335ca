import compact from 'lodash/compact';
import { InvalidInput } from '../../core/service/errors';
import { forEveryone, onScreenOnly } from '../../core/service/resolution';
import { isCampaignPhone } from '../../core/phone/campaignPhone';
import { isBlank } from '../../core/phone/written';
import { normalized, withoutEnd, withoutInvisible } from '../../core/values/text';
import { named, plainText, quoted } from '../../core/values/values';
import { DELIMITERS } from './csv';
import type { ContactsFrom, Row, Table } from './rows';

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

export const PHONE_FIELD = 'Phone Column';

/** A field of the form that names a column. */
export type WantedColumn = { name: string; field: string };

/** The error of a column that the rows don't have, with what its first rows show. */
export function missingColumn(
	found: Table,
	{ name, field }: WantedColumn,
	content: string,
	from: ContactsFrom,
): InvalidInput {
	const { names, file } = found;
	const columns = quotedColumns(names);
	if (from === 'json') {
		return new InvalidInput(
			`The contacts have no field ${quoted(name)}, so nothing was sent`,
			forEveryone(
				`Give an array of contacts, each with its ${content} in this field. The contacts have: ${columns}.`,
			),
		);
	}
	const where = file === undefined ? inputName(from) : `The file ${quoted(file)}`;
	const enter = `In '${field}', enter the name of the column with ${content}, not a value of it. ${ROWS[from]}`;
	const advice = (field === PHONE_FIELD && seenIn(found, from)) || enter;
	return new InvalidInput(
		`${where} has no column ${quoted(name)}, so nothing was sent`,
		onScreenOnly(`${advice} ${where} has: ${columns}.`),
	);
}

/** Pasted rows aren't in the input that n8n shows. */
export function inputName(from: ContactsFrom): string {
	return from === 'pasted' ? "'Rows'" : 'The input';
}

const ROWS = {
	items:
		"For a list in one item, add a Split Out node before this one. For a file, set 'Contacts From' to 'CSV File'.",
	csv: 'The first row of the file must name the columns.',
	pasted: 'The first row must name the columns.',
};

const ABOVE_HEADER = {
	items:
		"Remove the rows before it. Or in 'Options' of each Google Sheets node that reads or writes this sheet, add 'Data Location on Sheet', and enter its 'Header Row' and 'First Data Row'. To read, choose 'Specify Range (Rows)' first.",
	csv: 'Remove the rows before it.',
	pasted: 'Remove the rows before it.',
};

/** What the first rows show of the phone numbers. Undefined if nothing. */
function seenIn({ names, first }: Table, from: keyof typeof ABOVE_HEADER): string | undefined {
	if ([...names].some(isCampaignPhone))
		return 'The first row must name the columns, but it seems to be a row with a phone number. Add a row with their names above it.';
	const columns = [...names].filter((name) => isMostlyPhones(first, name)).map(quoted);
	if (columns.length > 0) {
		const have = columns.length === 1 ? 'has' : 'have';
		return `In '${PHONE_FIELD}', enter ${columns.join(' or ')}, which ${have} phone numbers.`;
	}
	const header = first.map(headingsIn).find((cells) => cells.some(isPhoneHeading));
	return header === undefined
		? undefined
		: `The first row must name the columns, but a later one seems to do so: ${quotedColumns(header)}. ${ABOVE_HEADER[from]}`;
}

/** The cells of a row as headings. Below a title, the delimiter of a file isn't known. */
function headingsIn({ cells }: Row): string[] {
	const texts = cells.map(plainText);
	const split =
		texts.length === 1
			? DELIMITERS.reduce((parts, one) => parts.flatMap((part) => part.split(one)), texts)
			: texts;
	return compact(split.map((text) => unmarked(text.trim())));
}

/** Most of the values are phone numbers, as far as there are any. */
function isMostlyPhones(first: readonly Row[], column: string): boolean {
	const values = first.map(({ json }) => json[column]).filter((value) => !isBlank(value));
	const phones = values.filter((value) => isCampaignPhone(plainText(value)));
	return phones.length > values.length / 2;
}
