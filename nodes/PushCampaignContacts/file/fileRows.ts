import sortedLastIndex from 'lodash/sortedLastIndex';
import { InvalidInput } from '../../shared/api/errors';
import { isJsonObject, parseStringified, type JsonObject } from '../../shared/json';
import { Pauses } from '../../shared/pauses';
import type { Explanation } from '../../shared/api/resolution';
import { SOURCE_FILE_COLUMN, SOURCE_ROW_COLUMN, type ContactRow } from '../push/cells';
import { changedFile } from '../push/prepareRows';
import {
	describeRows,
	type FoundColumns,
	type RowNames,
	type RowSource,
	type Visit,
} from '../push/rows';
import { CsvFile, type Source, type TableRow } from './csvFile';
import { faultOf } from './faults';

/** The rows of a CSV file. They aren't kept in memory, but read again when needed. */
export class FileRows implements RowSource {
	readonly maxOutputRows = MAX_OUTPUT_ROWS;

	readonly names: RowNames;
	count = 0;
	private numbers = new RowNumbers();
	/** What `pick` has read last. It continues from there. */
	private batches: AsyncGenerator<TableRow[]> | undefined;
	private batch = NO_ROWS;

	private constructor(
		private readonly file: CsvFile,
		private readonly item: number,
	) {
		this.names = {
			one: (row) => `row ${this.numbers.at(row)}`,
			several: (rows) => describeRows(rows, (row) => this.numbers.at(row)),
			legend: `Row numbers of ${file.label} are as in a spreadsheet program. The header is row 1.`,
		};
	}

	/**
	 * @param item the input item that has the file
	 * @throws InvalidInput if the file isn't CSV
	 */
	static async open(source: Source, item = 0): Promise<FileRows> {
		return new FileRows(await CsvFile.open(source), item);
	}

	get name(): string {
		return this.file.name;
	}

	get notes(): readonly Explanation[] {
		return this.file.notes;
	}

	async columns(): Promise<FoundColumns[]> {
		return [this.file.found];
	}

	tableOf(): number {
		return 0;
	}

	async each(visit: Visit): Promise<void> {
		const { file } = this;
		const numbers = new RowNumbers();
		const pauses = new Pauses();
		for await (const rows of file.rows()) {
			for (const row of rows) {
				if (pauses.isDue()) await pauses.take();
				visit(file.rowOf(row), numbers.count, faultOf(row, file));
				numbers.add(row.number);
			}
		}
		this.numbers = numbers;
		this.count = numbers.count;
	}

	async pick(rows: Iterable<number>, visit: Visit): Promise<void> {
		const { file } = this;
		const pauses = new Pauses();
		for (const index of rows) {
			if (pauses.isDue()) await pauses.take();
			if (!isIn(this.batch, index)) await this.readTo(index);
			const row = this.batch.rows[index - this.batch.first];
			if (row?.number !== this.numbers.at(index)) throw changedFile();
			visit(file.rowOf(row), index, faultOf(row, file));
		}
	}

	/** Reads forward to a row, from the beginning if it was read before. */
	private async readTo(index: number): Promise<void> {
		if (index < this.batch.first) await this.close();
		this.batches ??= this.file.rows();
		while (!isIn(this.batch, index)) {
			const next = await this.batches.next().catch((error: unknown) => {
				// The rows were readable when they were checked.
				throw error instanceof InvalidInput ? changedFile() : error;
			});
			if (next.done === true) throw changedFile();
			this.batch = { rows: next.value, first: endOf(this.batch) };
		}
	}

	/** Rows for the output, with their file and row number. If the file can't be read again, only these two. */
	async output(rows: readonly number[]): Promise<JsonObject[]> {
		const cells: JsonObject[] = [];
		try {
			await this.pick(rows, (row) => {
				cells.push(ownCopy(row));
			});
		} catch {
			await this.close();
		}
		return rows.map((row, position) => ({
			...cells[position],
			[SOURCE_FILE_COLUMN]: this.file.name,
			[SOURCE_ROW_COLUMN]: this.numbers.at(row),
		}));
	}

	inputOf(): number {
		return this.item;
	}

	inputsOf(): number[] {
		return [this.item];
	}

	async close(): Promise<void> {
		await this.batches?.return(undefined);
		this.batches = undefined;
		this.batch = NO_ROWS;
	}
}

/** Rows that were read together. `first` is the index of the first one. */
type Batch = { rows: readonly TableRow[]; first: number };

const NO_ROWS: Batch = { rows: [], first: 0 };

function endOf({ first, rows }: Batch): number {
	return first + rows.length;
}

function isIn(batch: Batch, index: number): boolean {
	return index >= batch.first && index < endOf(batch);
}

/** The numbers of consecutive rows. They skip only blank rows, so few of them are kept. */
class RowNumbers {
	private readonly firstRows: number[] = [];
	/** Of the first rows. */
	private readonly numbers: number[] = [];
	count = 0;

	add(number: number): void {
		if (number !== this.at(this.count)) {
			this.firstRows.push(this.count);
			this.numbers.push(number);
		}
		this.count++;
	}

	at(row: number): number {
		const found = sortedLastIndex(this.firstRows, row) - 1;
		return (this.numbers[found] ?? 0) + row - (this.firstRows[found] ?? 0);
	}
}

/** An n8n with a heap of 1 GB can store an output with this many rows of a few columns. */
export const MAX_OUTPUT_ROWS = 500_000;

/** A cell is a slice of a piece of the file, and would keep the whole piece in memory. */
function ownCopy(row: ContactRow): JsonObject {
	const copy = parseStringified(JSON.stringify(row));
	return isJsonObject(copy) ? copy : {};
}
