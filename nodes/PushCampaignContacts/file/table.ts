import findLastIndex from 'lodash/findLastIndex';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/resolution';
import { isAccepted, readCampaignPhone } from '../../shared/phone/campaignPhone';
import { quoted } from '../../shared/values';
import type { ContactRow } from '../push/cells';
import type { FoundColumns } from '../push/rows';
import type { CsvFile, TableRow } from './csvFile';
import { UNREADABLE } from './encoding';

/** A CSV file, whose rows become objects. */
export class Table {
	readonly columns: readonly string[];
	/** The cell of each column. */
	private readonly cellIndexes: readonly number[];
	/** Names that the header has more than once. */
	readonly repeated: string[] = [];
	/** The number of columns up to the last one with a name. A header may end with delimiters. */
	private readonly namedWidth: number;

	constructor(readonly file: CsvFile) {
		const cells = new Map<string, number>();
		/** The last number used for each repeated heading: `Notes_2`, `Notes_3`. */
		const lastNumbers = new Map<string, number>();
		for (const [index, heading] of file.header.entries()) {
			// An object can't have a field `__proto__`.
			if (heading === '' || heading === '__proto__') continue;
			let name = heading;
			if (cells.has(heading)) {
				this.repeated.push(heading);
				let number = lastNumbers.get(heading) ?? 1;
				do name = `${heading}_${++number}`;
				while (cells.has(name));
				lastNumbers.set(heading, number);
			}
			cells.set(name, index);
		}
		this.columns = [...cells.keys()];
		this.cellIndexes = [...cells.values()];
		this.namedWidth = findLastIndex(file.header, (heading) => heading !== '') + 1;
	}

	rowOf({ cells }: TableRow): ContactRow {
		const row: { [column: string]: string } = {};
		// An iterator would create an object for each of millions of cells.
		for (let at = 0; at < this.columns.length; at++) {
			// Missing cells at the end of a row are empty, as in a spreadsheet program.
			row[this.columns[at] ?? ''] = cells[this.cellIndexes[at] ?? 0] ?? '';
		}
		return row;
	}

	/**
	 * Why a row can't be used: it has bytes that aren't text, the file may be cut off in it, an unclosed quote runs into it, or
	 * an unquoted delimiter may have shifted its cells into the wrong columns.
	 */
	faultOf(row: TableRow): string | undefined {
		const { cells } = row;
		const { file, namedWidth } = this;
		const { header, delimiter } = file;
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

	found(): FoundColumns {
		const { name, header } = this.file;
		return {
			names: new Set(this.columns),
			repeated: new Set(this.repeated),
			likelyCause: () =>
				header.some(isNumber)
					? new InvalidInput(
							`The first row of the file ${quoted(name)} has a phone number, so the file probably has no header. Nothing was sent`,
							onScreenOnly('Add a first row that names the columns, such as: phone, person_name.'),
						)
					: undefined,
		};
	}
}

/** Whether the lines of a cell are complete rows together with the cells around it, with phone numbers in the same column. */
function hasRows(cells: readonly string[], at: number, { header, delimiter }: CsvFile): boolean {
	if (delimiter === '') return false;
	const lines = (cells[at] ?? '').split(BREAK).map((line) => line.split(delimiter));
	const rows = lines.filter((line) => line.join('').trim() !== '');
	const last = [...(rows.pop() ?? []), ...cells.slice(at + 1)];
	const first = [...cells.slice(0, at), ...(rows.shift() ?? [])];
	if ([first, ...rows, last].some(({ length }) => length !== header.length)) return false;
	return first.some((cell, column) => isNumber(cell) && isNumber(last[column] ?? ''));
}

const BREAK = /\r\n|\r|\n/;

function isNumber(cell: string): boolean {
	return isAccepted(readCampaignPhone(cell));
}

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

const UNREADABLE_ROW = `This row has a character that can't be read, shown as "${UNREADABLE}". Correct it in the file and save the file as CSV UTF-8. If the file isn't UTF-8, set 'Encoding' in 'Options'.`;
