import compact from 'lodash/compact';
import { InvalidInput } from '../../core/service/errors';
import { forEveryone, onScreenOnly } from '../../core/service/resolution';
import { isCampaignPhone } from '../../core/phone/campaignPhone';
import { isBlank } from '../../core/phone/written';
import { plainText, quoted } from '../../core/values/values';
import { DELIMITERS } from '../file/csv';
import { isPhoneHeading, quotedColumns, unmarked } from './headings';
import type { ContactsFrom, FirstRow, Table } from './rows';

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
	const input = from === 'pasted' ? "'Rows'" : 'The input';
	const where = file === undefined ? input : `The file ${quoted(file)}`;
	const enter = `In '${field}', enter the name of the column with ${content}, not a value of it. ${ROWS[from]}`;
	const advice = (field === PHONE_FIELD && seenIn(found, from)) || enter;
	return new InvalidInput(
		`${where} has no column ${quoted(name)}, so nothing was sent`,
		onScreenOnly(`${advice} ${where} has: ${columns}.`),
	);
}

const ROWS = {
	items:
		"For a list in one item, add a Split Out node before this one. For a file, set 'Contacts From' to 'CSV File'.",
	csv: 'The first row of the file must name the columns.',
	pasted: 'The first row must name the columns.',
};

const ABOVE_HEADER = {
	items:
		"Remove the rows before it. Or in Google Sheets > Options, add 'Data Location on Sheet', choose 'Specify Range (Rows)', and enter its 'Header Row' and 'First Data Row'.",
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
function headingsIn({ cells }: FirstRow): string[] {
	const texts = cells.map(plainText);
	const split =
		texts.length === 1
			? DELIMITERS.reduce((parts, one) => parts.flatMap((part) => part.split(one)), texts)
			: texts;
	return compact(split.map((text) => unmarked(text.trim())));
}

/** Most of the values are phone numbers, as far as there are any. */
function isMostlyPhones(first: readonly FirstRow[], column: string): boolean {
	const values = first.map(({ json }) => json[column]).filter((value) => !isBlank(value));
	const phones = values.filter((value) => isCampaignPhone(plainText(value)));
	return phones.length > values.length / 2;
}
