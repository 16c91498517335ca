import { isAccepted, isCampaignPhone, readCampaignPhone } from '../../shared/phone/campaignPhone';
import { quoted } from '../../shared/values';
import type { CsvFile, TableRow } from './csvFile';
import { UNREADABLE } from './encoding';

/**
 * Why a row can't be used: it has bytes that aren't text, the file may be cut off in it, an unclosed quote runs into it, or
 * an unquoted delimiter may have shifted its cells into the wrong columns.
 */
export function faultOf(row: TableRow, file: CsvFile): string | undefined {
	const { cells } = row;
	const { header, delimiter, namedWidth } = file;
	if (file.isUnreadable(row)) return UNREADABLE_ROW;
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
	const found = `This row has ${cells.length} cells, but the header has ${namedWidth}, so cells may be in the wrong columns`;
	return isBlank
		? `${found}. The extra cells are empty. Put quotes around a cell that contains the delimiter, or remove the delimiters at the end of the row.`
		: `${found}. The extra cells are ${quoted(beyond.join(delimiter))}. Put quotes around a cell that contains the delimiter.`;
}

/** Whether the lines of a cell are complete rows together with the cells around it, with phone numbers in the same column. */
function hasRows(cells: readonly string[], at: number, { header, delimiter }: CsvFile): boolean {
	if (delimiter === '') return false;
	const lines = (cells[at] ?? '').split(BREAK).map((line) => line.split(delimiter));
	const rows = lines.filter((line) => line.join('').trim() !== '');
	const last = [...(rows.pop() ?? []), ...cells.slice(at + 1)];
	const first = [...cells.slice(0, at), ...(rows.shift() ?? [])];
	if ([first, ...rows, last].some(({ length }) => length !== header.length)) return false;
	return first.some((cell, column) => isCampaignPhone(cell) && isCampaignPhone(last[column] ?? ''));
}

const BREAK = /\r\n|\r|\n/;

/** An unclosed quote ends at the next quote, which may be rows below. */
const RUN_ON_ROW =
	'A cell of this row has several lines that look like rows, so its quote may not be closed. Close or remove the quote. Nobody in this cell is called.';
const CUT_ROW =
	'This is the last row of the file. It has fewer cells than the header and no line break at its end, so the file may be cut off. If the row is complete, add a line break after it.';
/** Ten digits that begin with 91 may be the first part of 91 and another person's ten digits. */
function mayBeCut(cell: string): string | undefined {
	const reading = readCampaignPhone(cell);
	if (!isAccepted(reading) || !reading.phone.startsWith('91')) return undefined;
	return `The last cell of this row may be cut off. The file doesn't end with a line break, and ${quoted(cell)} can be the beginning of a longer number. If the row is complete, add a line break after it.`;
}

const UNREADABLE_ROW = `This row has a character that can't be read, shown as "${UNREADABLE}". Correct it in the file and save the file as CSV UTF-8.`;
