import sortedLastIndex from 'lodash/sortedLastIndex';
import sum from 'lodash/sum';
import type { Explanation } from '../../shared/api/resolution';
import { quoted } from '../../shared/values';
import type { ContactRow } from '../push/cells';
import type { FoundColumns, RowNames, RowSource, Visit } from '../push/rows';
import { RowSet } from '../push/rowSet';
import { type FileRows, MAX_OUTPUT_ROWS } from './fileRows';

/** The rows of several files, one after the other. Each file has its own header. */
export class SeveralFiles implements RowSource {
	readonly maxOutputRows = MAX_OUTPUT_ROWS;

	readonly names: RowNames = {
		one: (row) => {
			const { file, first } = this.partOf(row);
			return `${file.names.one(row - first)} of ${quoted(file.name)}`;
		},
		several: (rows) =>
			this.parts(rows)
				.map(({ file, own }) => `${file.names.several(own)} of ${quoted(file.name)}`)
				.join(', '),
		legend: 'Row numbers are as in a spreadsheet program. The header of each file is row 1.',
	};

	/** The first row of each file that `each` has read or begun to read. */
	private firstRows: number[] = [];
	/** The file that was read last. The others are closed, because there may be many. */
	private open: FileRows | undefined;

	constructor(private readonly files: readonly FileRows[]) {}

	get count(): number {
		return sum(this.files.map(({ count }) => count));
	}

	get notes(): readonly Explanation[] {
		return this.files.flatMap(({ notes }) => notes);
	}

	async columns(): Promise<FoundColumns[]> {
		const found: FoundColumns[] = [];
		for (const file of this.files) {
			for (const columns of await file.columns()) found.push({ ...columns, file: file.name });
		}
		return found;
	}

	tableOf(row: number): number {
		return sortedLastIndex(this.firstRows, row) - 1;
	}

	async each(visit: Visit): Promise<void> {
		this.firstRows = [];
		let first = 0;
		for (const file of this.files) {
			this.firstRows.push(first);
			const start = first;
			await file.each((row, index, unusable) => {
				visit(row, start + index, unusable);
			});
			first += file.count;
		}
	}

	async pick(rows: Iterable<number>, visit: Visit): Promise<void> {
		for (const { file, first, own } of this.inTurn(rows)) {
			await this.turnTo(file);
			await file.pick(own, (row, index, unusable) => {
				visit(row, first + index, unusable);
			});
		}
	}

	async output(rows: readonly number[]): Promise<ContactRow[]> {
		const found: ContactRow[] = [];
		for (const { file, own } of this.inTurn(rows)) {
			await this.turnTo(file);
			for (const row of await file.output(own)) found.push(row);
		}
		return found;
	}

	inputOf(row: number): number {
		return this.partOf(row).file.inputOf();
	}

	inputsOf(rows: RowSet): number[] {
		return [...new Set(this.parts(rows).map(({ file }) => file.inputOf()))];
	}

	async close(): Promise<void> {
		await this.open?.close();
		this.open = undefined;
	}

	private async turnTo(file: FileRows): Promise<void> {
		if (this.open !== file) await this.close();
		this.open = file;
	}

	private partOf(row: number) {
		const at = this.tableOf(row);
		const [file, first = 0] = [this.files[at], this.firstRows[at]];
		if (file === undefined) throw new RangeError(`No file has row ${row}`);
		return { file, first };
	}

	/** Rows in any order, with those of one file that follow each other. */
	private *inTurn(rows: Iterable<number>) {
		let part: { file: FileRows; first: number; own: number[] } | undefined;
		for (const row of rows) {
			const { file, first } = this.partOf(row);
			if (part !== undefined && part.file !== file) {
				yield part;
				part = undefined;
			}
			part ??= { file, first, own: [] };
			part.own.push(row - first);
		}
		if (part !== undefined) yield part;
	}

	/** The rows of each file that has some. */
	private parts(rows: RowSet): Array<{ file: FileRows; own: RowSet }> {
		return this.files
			.map((file, at) => {
				const first = this.firstRows[at] ?? 0;
				const own = new RowSet();
				for (const [from, to] of rows.ranges()) {
					own.addRange(Math.max(from - first, 0), Math.min(to - first, file.count - 1));
				}
				return { file, own };
			})
			.filter(({ own }) => own.size > 0);
	}
}
