import findLastIndex from 'lodash/findLastIndex';
import { isCampaignPhone } from '../../core/phone/campaignPhone';
import { isBlank } from '../../core/phone/written';
import type { ContactRow } from '../push/cells';
import { MAX_FIRST_ROWS, type Row, type Table } from '../push/rows';
import { isBlankRow } from './csv';

/** `number` is as in a spreadsheet program: from 1, including the header and blank rows. */
export type CsvRow = {
	number: number;
	cells: string[];
	/** True for a last row without a line break. The file may be cut off in it. */
	endsFile?: boolean;
};

/** The columns of a file, which its first row that isn't blank names. */
export class FileTable implements Table {
	readonly fileName: string;
	/** The input item that has the file. */
	readonly input: number;
	/** Trimmed. */
	readonly header: readonly string[];
	readonly names: ReadonlySet<string>;
	readonly repeated = new Set<string>();
	readonly filled = new Set<string>();
	readonly first: Row[] = [];
	/** A cell has no paths. */
	readonly hasPath = () => false;
	/** The number of columns up to the last one with a name. A header may end with delimiters. */
	readonly namedWidth: number;
	/** Each column with its cell. */
	private readonly columns: ReadonlyArray<{ name: string; at: number }>;

	/** @param file the name in messages, if there are several files */
	constructor(
		{ cells: headings }: CsvRow,
		readonly delimiter: string,
		{ name, item }: { name: string; item: number },
		readonly file: string | undefined,
	) {
		this.fileName = name;
		this.input = item;
		this.header = headings.map((name) => name.trim());
		const cells = new Map<string, number>();
		/** The last number used for each repeated heading: `Notes_2`, `Notes_3`. */
		const lastNumbers = new Map<string, number>();
		for (const [index, heading] of this.header.entries()) {
			// An object can't have a field `__proto__`.
			if (heading === '' || heading === '__proto__') continue;
			let name = heading;
			if (cells.has(heading)) {
				this.repeated.add(heading);
				let number = lastNumbers.get(heading) ?? 1;
				do name = `${heading}_${++number}`;
				while (cells.has(name));
				lastNumbers.set(heading, number);
			}
			cells.set(name, index);
		}
		this.columns = Array.from(cells, ([name, at]) => ({ name, at }));
		this.names = new Set(cells.keys());
		this.namedWidth = findLastIndex(this.header, (heading) => heading !== '') + 1;
	}

	/** Takes from a row what columns are found by. */
	note(row: Row, cells: readonly string[]): void {
		if (this.first.length < MAX_FIRST_ROWS) this.first.push(row);
		for (const { name, at } of this.columns) {
			if (!this.filled.has(name) && !isBlank(cells[at])) this.filled.add(name);
		}
	}

	rowOf(cells: readonly string[]): ContactRow {
		const row: { [column: string]: string } = {};
		// Missing cells at the end of a row are empty, as in a spreadsheet program.
		for (const { name, at } of this.columns) row[name] = cells[at] ?? '';
		return row;
	}
}

/**
 * Why a row can't be used: an unclosed quote runs into it, the file may be cut off in it, or an unquoted delimiter may have
 * shifted its cells into the wrong columns.
 */
export function faultOf({ cells, endsFile }: CsvRow, file: FileTable): string | undefined {
	const { header, namedWidth } = file;
	if (cells.some((cell, at) => BREAK.test(cell) && hasRows(cells, at, file))) return RUN_ON_ROW;
	if (endsFile === true && cells.length < header.length) return CUT_ROW;
	const fits = cells.length <= header.length && isBlankRow(cells.slice(namedWidth));
	if (fits) return undefined;
	return `This row has ${cells.length} cells, but the header names ${namedWidth} columns, so cells may be in the wrong columns. Put quotes around a cell that contains the delimiter, or remove the extra delimiters.`;
}

/** Whether the lines of a cell are complete rows together with the cells around it, with phone numbers in the same column. */
function hasRows(cells: readonly string[], at: number, { header, delimiter }: FileTable): boolean {
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
