import sortedLastIndex from 'lodash/sortedLastIndex';
import { InvalidInput } from '../../shared/api/errors';
import { isJsonObject, parseStringified, type JsonObject } from '../../shared/json';
import { Pauses } from '../../shared/pauses';
import { quoted } from '../../shared/values';
import {
	LAST_SOURCE_ROW_COLUMN,
	SOURCE_FILE_COLUMN,
	SOURCE_ROW_COLUMN,
	type ContactRow,
} from '../push/cells';
import { changedFile } from '../push/prepareRows';
import {
	describeRows,
	type FoundColumns,
	type OutputLimit,
	type RowNames,
	type RowSource,
	type Visit,
} from '../push/rows';
import type { RowSet } from '../push/rowSet';
import { CsvFile, type Source, type TableRow } from './csvFile';
import { faultOf } from './faults';

/** The rows of CSV files, one file after the other. Rows aren't kept in memory, but read again when needed. */
export class FileRows implements RowSource {
	readonly outputLimit: OutputLimit = {
		maxRows: MAX_OUTPUT_ROWS,
		rangesOf: (first, last) =>
			this.begins.flatMap((begin, file) => {
				const [start, end] = [Math.max(first, begin), Math.min(last, this.endOfFile(file))];
				if (end < start) return [];
				const columns = { ...this.placeOf(start), [LAST_SOURCE_ROW_COLUMN]: this.numbers.at(end) };
				return { item: file, columns };
			}),
	};

	readonly names: RowNames = {
		one: (row) => `row ${this.numbers.at(row)}${this.ofFile(this.inputOf(row))}`,
		several: (rows) => {
			const parts = this.byFile(rows).map(
				({ file, some }) => describeRows(some, (row) => this.numbers.at(row)) + this.ofFile(file),
			);
			return parts.join(' and ');
		},
		legend: 'Row numbers are as in a spreadsheet program. The header is row 1.',
	};

	count = 0;
	/** The numbers of the rows in their files. */
	private numbers = new RowNumbers();
	/** The first row of each file. */
	private begins: number[] = [];
	/** What `pick` has read last. It continues from there. */
	private parts: AsyncGenerator<Part> | undefined;
	private part: Part | undefined;

	private constructor(private readonly files: readonly CsvFile[]) {}

	/** @throws InvalidInput if a file isn't CSV */
	static async open(sources: readonly Source[]): Promise<FileRows> {
		const files: CsvFile[] = [];
		for (const source of sources) files.push(await CsvFile.open(source));
		return new FileRows(files);
	}

	/** Hints about how the files were read. */
	get notes(): string[] {
		return this.files.flatMap(({ note }) => note ?? []);
	}

	async columns(): Promise<FoundColumns> {
		const { files } = this;
		const [only] = files;
		if (only !== undefined && files.length === 1) return only.found();
		return {
			names: new Set(files.flatMap(({ columns }) => columns)),
			files: files.map((file) => ({ ...file.found(), file: file.name })),
		};
	}

	async each(visit: Visit): Promise<void> {
		const numbers = new RowNumbers();
		const begins: number[] = [];
		const pauses = new Pauses();
		let index = 0;
		for await (const { rows, file, at } of partsOf(this.files)) {
			if (begins.length === at) begins.push(index);
			for (const row of rows) {
				if (pauses.isDue()) await pauses.take();
				numbers.add(row.number);
				visit(file.rowOf(row), index, faultOf(row, file), at);
				index++;
			}
		}
		this.numbers = numbers;
		this.begins = begins;
		this.count = index;
	}

	async pick(rows: readonly number[], visit: Visit): Promise<void> {
		const pauses = new Pauses();
		for (const index of rows) {
			if (pauses.isDue()) await pauses.take();
			const { part } = this;
			const isRead = part !== undefined && index >= part.first && index < endOf(part);
			const { file, at, first, rows: found } = isRead ? part : await this.readTo(index);
			const row = found[index - first];
			if (row?.number !== this.numbers.at(index)) throw changedFile();
			visit(file.rowOf(row), index, faultOf(row, file), at);
		}
	}

	/** Reads forward to a row, from the beginning if it was read before. */
	private async readTo(index: number): Promise<Part> {
		if (this.part !== undefined && index < this.part.first) await this.close();
		this.parts ??= partsOf(this.files);
		do {
			const next = await this.parts.next().catch((error: unknown) => {
				// The rows were readable when they were checked.
				throw error instanceof InvalidInput ? changedFile() : error;
			});
			if (next.done === true) throw changedFile();
			this.part = next.value;
		} while (index >= endOf(this.part));
		return this.part;
	}

	/** Rows for the output, with their file and row number. If the files can't be read again, only these two. */
	async output(rows: readonly number[]): Promise<JsonObject[]> {
		const cells: JsonObject[] = [];
		try {
			await this.pick(rows, (row) => {
				cells.push(ownCopy(row));
			});
		} catch {
			await this.close();
		}
		return rows.map((index, position) => ({ ...cells[position], ...this.placeOf(index) }));
	}

	private placeOf(row: number): JsonObject {
		return {
			[SOURCE_FILE_COLUMN]: this.files[this.inputOf(row)]?.name ?? '',
			[SOURCE_ROW_COLUMN]: this.numbers.at(row),
		};
	}

	/** The index of the row's file, which is also the index of its item. */
	inputOf(row: number): number {
		return sortedLastIndex(this.begins, row) - 1;
	}

	inputsOf(rows: RowSet): number[] {
		return this.byFile(rows).map(({ file }) => file);
	}

	private byFile(rows: RowSet): Array<{ file: number; some: RowSet }> {
		return this.begins.flatMap((begin, file) => {
			const some = rows.within(begin, this.endOfFile(file));
			return some.size === 0 ? [] : { file, some };
		});
	}

	private ofFile(file: number): string {
		return this.files.length === 1 ? '' : ` of ${quoted(this.files[file]?.name ?? '')}`;
	}

	/** The last row of a file. */
	private endOfFile(file: number): number {
		return (this.begins[file + 1] ?? this.count) - 1;
	}

	async close(): Promise<void> {
		await this.parts?.return(undefined);
		this.parts = undefined;
		this.part = undefined;
	}
}

/** The numbers of consecutive rows. They skip only blank rows, so few of them are kept. */
class RowNumbers {
	private readonly firstRows: number[] = [];
	/** Of the first rows. */
	private readonly numbers: number[] = [];
	private count = 0;

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

/** Rows that were read together. `first` is the index of the first one. */
type Part = { file: CsvFile; at: number; rows: TableRow[]; first: number };

async function* partsOf(files: readonly CsvFile[]): AsyncGenerator<Part, undefined> {
	let first = 0;
	for (const [at, file] of files.entries()) {
		for await (const rows of file.rows()) {
			yield { file, at, rows, first };
			first += rows.length;
		}
	}
	return undefined;
}

function endOf({ first, rows }: Part): number {
	return first + rows.length;
}

/** A cell is a slice of a piece of the file, and would keep the whole piece in memory. */
function ownCopy(row: ContactRow): JsonObject {
	const copy = parseStringified(JSON.stringify(row));
	return isJsonObject(copy) ? copy : {};
}
