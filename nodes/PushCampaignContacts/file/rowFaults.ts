import { isAccepted, readCampaignPhone } from '../../shared/phone/campaignPhone';
import { quoted } from '../../shared/values';
import type { CsvFile, TableRow } from './csvFile';
import { UNREADABLE } from './encoding';

/**
 * Why a row of a file can't be used: a byte in it isn't text, the file may be cut off in it, a quote runs on into it, or its
 * cells may be in the wrong columns, because an unquoted delimiter shifts all after it.
 *
 * @param namedWidth columns up to the last one with a name: a header may end with a delimiter
 */
export function faultOfRow(row: TableRow, file: CsvFile, namedWidth: number): string | undefined {
	const { cells } = row;
	const { header, delimiter } = file;
	if (row.isUnreadable === true) return UNREADABLE_ROW;
	if (cells.some((cell, at) => BREAK.test(cell) && hasRows(cells, at, file))) return RUN_ON_ROW;
	if (row.endsFile === true) {
		if (cells.length < header.length) return CUT_ROW;
		const cut = mayBeCut(cells.at(-1) ?? '');
		if (cut !== undefined) return cut;
	}
	if (cells.length <= namedWidth) return undefined;
	const beyond = cells.slice(namedWidth);
	const isBlank = beyond.every((cell) => cell.trim() === '');
	if (isBlank && cells.length <= header.length) return undefined;
	const found = `This row has ${cells.length} cells and the header ${namedWidth}, so they may be in the wrong columns`;
	return isBlank
		? `${found}. The ones beyond the last column are empty. Put quotes around a cell that contains the delimiter, or remove the delimiters at the end of the row.`
		: `${found}: ${quoted(beyond.join(delimiter))} is beyond the last one. Put quotes around a cell that holds the delimiter.`;
}

/** Whether the lines of a cell make whole rows with the cells around it, and the last one has its number where the row has it. */
function hasRows(cells: readonly string[], at: number, { header, delimiter }: CsvFile): boolean {
	if (delimiter === '') return false;
	const lines = (cells[at] ?? '').split(BREAK).map((line) => line.split(delimiter));
	const rows = lines.filter((line) => line.join('').trim() !== '');
	const last = [...(rows.pop() ?? []), ...cells.slice(at + 1)];
	const first = [...cells.slice(0, at), ...(rows.shift() ?? [])];
	if ([first, ...rows, last].some(({ length }) => length !== header.length)) return false;
	return first.some((cell, place) => isNumber(cell) && isNumber(last[place] ?? ''));
}

const BREAK = /\r\n|\r|\n/;

export function isNumber(cell: string): boolean {
	return isAccepted(readCampaignPhone(cell));
}

/** A quote that nobody closed ends at the next one, which may be rows below. */
const RUN_ON_ROW =
	'This row has a cell with line breaks whose lines look like rows of their own, so its quote may not be closed where the cell ends. Close or remove the quote. Nobody in this cell is called.';
const CUT_ROW =
	'This row is the last one of the file, and it has fewer cells than the header and no line break at its end, so the file may have been cut off. If the row is complete, add a line break after it.';
/** Ten digits that begin with 91 may be the beginning of 91 and the ten digits of somebody else. */
function mayBeCut(cell: string): string | undefined {
	const reading = readCampaignPhone(cell);
	if (!isAccepted(reading) || !reading.phone.startsWith('91')) return undefined;
	return `The last cell of this row may be cut off: no line break ends the file, and ${quoted(cell)} can be the beginning of a longer number. If the row is complete, add a line break after it.`;
}

const UNREADABLE_ROW = `This row has a character that can't be read, shown as "${UNREADABLE}". Correct it in the file and save the file as CSV UTF-8. If the file isn't UTF-8, set 'Encoding' in 'Options'.`;
