import { isCampaignPhone } from '../../core/phone/campaignPhone';
import { isBlankRow } from './csv';
import type { CsvHeader, CsvRow } from './csvFile';

/**
 * Why a row can't be used: an unclosed quote runs into it, the file may be cut off in it, or an unquoted delimiter may have
 * shifted its cells into the wrong columns.
 */
export function faultOf({ cells, endsFile }: CsvRow, file: CsvHeader): string | undefined {
	const { header, namedWidth } = file;
	if (cells.some((cell, at) => BREAK.test(cell) && hasRows(cells, at, file))) return RUN_ON_ROW;
	if (endsFile === true && cells.length < header.length) return CUT_ROW;
	const fits = cells.length <= header.length && isBlankRow(cells.slice(namedWidth));
	if (fits) return undefined;
	return `This row has ${cells.length} cells, but the header names ${namedWidth} columns, so cells may be in the wrong columns. Put quotes around a cell that contains the delimiter, or remove the extra delimiters.`;
}

/** Whether the lines of a cell are complete rows together with the cells around it, with phone numbers in the same column. */
function hasRows(cells: readonly string[], at: number, { header, delimiter }: CsvHeader): boolean {
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
