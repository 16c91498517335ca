import findLastIndex from 'lodash/findLastIndex';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/modelAdvice';
import { quoted } from '../../shared/values';
import type { ContactRow } from '../push/pushTypes';
import type { FoundColumns } from '../push/rows';
import type { CsvFile, TableRow } from './csvFile';
import { faultOfRow, isNumber } from './rowFaults';

/** A file, and how its rows become data. */
export class Table {
	readonly columns: readonly string[];
	/** Which cell each of them is. */
	private readonly places: readonly number[];
	/** Names that stand more than once in the header. */
	readonly twice: string[] = [];
	/** Columns up to the last one with a name: a header may end with a delimiter. */
	private readonly namedWidth: number;

	constructor(readonly file: CsvFile) {
		const cells = new Map<string, number>();
		const free = new FreeNames(cells);
		for (const [place, heading] of file.header.entries()) {
			// Without a heading nothing could be said about it, and a row cannot have the other one.
			if (heading === '' || heading === '__proto__') continue;
			if (cells.has(heading)) this.twice.push(heading);
			cells.set(cells.has(heading) ? free.nameLike(heading) : heading, place);
		}
		this.columns = [...cells.keys()];
		this.places = [...cells.values()];
		this.namedWidth = findLastIndex(file.header, (heading) => heading !== '') + 1;
	}

	rowOf({ cells }: TableRow): ContactRow {
		const row: { [column: string]: string } = {};
		// By index: an iterator makes objects for each cell, and a large file has millions of them.
		for (let at = 0; at < this.columns.length; at++) {
			// A row that ends early has empty cells, as a spreadsheet program shows it.
			row[this.columns[at] ?? ''] = cells[this.places[at] ?? 0] ?? '';
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
			twice: new Set(this.twice),
			hasWithin: () => false,
			slip: () => (this.seemsToHaveNoHeader() ? this.withoutHeader() : undefined),
		};
	}

	private seemsToHaveNoHeader(): boolean {
		return this.file.header.some(isNumber);
	}

	private withoutHeader(): InvalidInput {
		return new InvalidInput(
			`The first row of the file ${quoted(this.file.name)} holds a phone number, so it seems to have no header, and nothing was sent`,
			onScreenOnly('Put a row on top that names the columns, such as: phone, person_name.'),
		);
	}
}

/** Names for columns whose heading is taken: `Notes_2`, `Notes_3`. */
class FreeNames {
	/** By heading, the last number that was tried: the next one need not begin at 2 again. */
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

/** So many cells may be missing in any file, and in a longer one … */
const MAX_MISSING_CELLS = 1_000_000;
/** … so many for each that is there. */
const MOST_MISSING_FOR_EACH = 10;

/** Rows that end early get empty cells. Of a wide header over short rows these could be a thousand times the file. */
export class CellCount {
	private there = 0;
	private missing = 0;

	constructor(private readonly file: CsvFile) {}

	/** @throws InvalidInput where the file has far fewer cells than its header says */
	add({ cells }: TableRow): void {
		const { header, name } = this.file;
		this.there += cells.length;
		this.missing += Math.max(0, header.length - cells.length);
		if (this.missing <= MAX_MISSING_CELLS + MOST_MISSING_FOR_EACH * this.there) return;
		throw new InvalidInput(
			`The header of the file ${quoted(name)} has ${header.length.toLocaleString('en-US')} columns, and most of its rows end long before, so nothing was sent`,
			onScreenOnly(
				'Look whether the first row really names the columns, and whether Delimiter in Options is the one of the file. Save it again with the columns that you need.',
			),
		);
	}
}
