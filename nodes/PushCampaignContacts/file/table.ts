import findLastIndex from 'lodash/findLastIndex';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/resolution';
import { quoted } from '../../shared/values';
import type { ContactRow } from '../push/pushTypes';
import type { FoundColumns } from '../push/rows';
import type { CsvFile, TableRow } from './csvFile';
import { faultOfRow, isNumber } from './rowFaults';

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
		const free = new FreeNames(cells);
		for (const [index, heading] of file.header.entries()) {
			// An object can't have a field `__proto__`.
			if (heading === '' || heading === '__proto__') continue;
			if (cells.has(heading)) this.repeated.push(heading);
			cells.set(cells.has(heading) ? free.nameLike(heading) : heading, index);
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

	/** Why a row can't be used. */
	faultOf(row: TableRow): string | undefined {
		return faultOfRow(row, this.file, this.namedWidth);
	}

	found(): FoundColumns {
		return {
			names: new Set(this.columns),
			repeated: new Set(this.repeated),
			hasNested: () => false,
			likelyCause: () => (this.seemsToHaveNoHeader() ? this.withoutHeader() : undefined),
		};
	}

	private seemsToHaveNoHeader(): boolean {
		return this.file.header.some(isNumber);
	}

	private withoutHeader(): InvalidInput {
		return new InvalidInput(
			`The first row of the file ${quoted(this.file.name)} has a phone number, so the file probably has no header. Nothing was sent`,
			onScreenOnly('Add a first row that names the columns, such as: phone, person_name.'),
		);
	}
}

/** Creates names for repeated headings: `Notes_2`, `Notes_3`. */
class FreeNames {
	/** The last number used, by heading. */
	private readonly lastTried = new Map<string, number>();

	constructor(private readonly taken: ReadonlyMap<string, unknown>) {}

	nameLike(heading: string): string {
		let count = this.lastTried.get(heading) ?? 1;
		do count++;
		while (this.taken.has(`${heading}_${count}`));
		this.lastTried.set(heading, count);
		return `${heading}_${count}`;
	}
}

/** Missing cells that any file may have. */
const MAX_MISSING_CELLS = 1_000_000;
/** Missing cells that a file may have in addition, for each of its cells. */
const MAX_MISSING_PER_CELL = 10;

/** Short rows are filled with empty cells. With a wide header, these could need 1,000 times the memory of the file. */
export class CellCount {
	private there = 0;
	private missing = 0;

	constructor(private readonly file: CsvFile) {}

	/** @throws InvalidInput if the file has far fewer cells than its header */
	add({ cells }: TableRow): void {
		const { header, name } = this.file;
		this.there += cells.length;
		this.missing += Math.max(0, header.length - cells.length);
		if (this.missing <= MAX_MISSING_CELLS + MAX_MISSING_PER_CELL * this.there) return;
		throw new InvalidInput(
			`The header of the file ${quoted(name)} has ${header.length.toLocaleString('en-US')} columns, but most rows have far fewer cells. Nothing was sent`,
			onScreenOnly(
				"Check that the first row names the columns, and that 'Delimiter' in 'Options' matches the file. Save the file with only the columns that you need.",
			),
		);
	}
}
