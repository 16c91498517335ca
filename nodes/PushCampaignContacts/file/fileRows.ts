import groupBy from 'lodash/groupBy';
import sortedLastIndex from 'lodash/sortedLastIndex';
import { InvalidInput } from '../../shared/api/errors';
import { shortFingerprint } from '../../shared/hash';
import { isJsonObject, parseJson, type JsonObject } from '../../shared/json';
import { quoted } from '../../shared/values';
import { NumbersByRow } from '../push/phoneArrays';
import {
	ROWS_PER_YIELD,
	ROWS_PER_YIELD_IN_FLIGHT,
	SOURCE_FILE_COLUMN,
	SOURCE_ROW_COLUMN,
	type YieldToEventLoop,
	type ContactRow,
} from '../push/pushTypes';
import { changedFile } from '../push/prepareRows';
import {
	describeRows,
	type RowSource,
	type FoundColumns,
	type RowNames,
	type Visit,
} from '../push/rows';
import { CsvFile, type Source, type TableRow, type Writing } from './csvFile';
import { CellCount, Table } from './table';

/**
 * The rows of CSV files, one file after the other. None is kept: what is needed again is read again, and for each row
 * only its number in the file is remembered, and a checksum that shows whether it is the same row then.
 */
export class FileRows implements RowSource {
	private numbers = new NumbersByRow();
	private checksums = new NumbersByRow();
	/** The row that each file begins with. */
	private begins: number[] = [];
	private total: number | undefined;
	/** How far rows have been picked. */
	private place: Place | undefined;

	/** Columns of the widest file: each row has as many cells, whether the file has them or not. */
	private readonly width: number;

	private constructor(
		private readonly tables: readonly Table[],
		private readonly breathe: YieldToEventLoop,
	) {
		this.width = tables.reduce((most, { columns }) => Math.max(most, columns.length), 1);
	}

	/** @throws InvalidInput where one of them is no CSV file */
	static async open(
		sources: readonly Source[],
		writing: Writing,
		breathe: YieldToEventLoop,
	): Promise<FileRows> {
		const tables: Table[] = [];
		for (const source of sources) tables.push(new Table(await CsvFile.open(source, writing)));
		return new FileRows(tables, breathe);
	}

	get count(): number {
		return this.total ?? 0;
	}

	get reading(): string {
		return shortFingerprint(
			this.tables.map(({ file }) => [file.name, file.header, file.reading]),
			16,
		);
	}

	/** What a person should know of how the files were read. */
	get notes(): string[] {
		return this.tables.flatMap(({ file }) => noteOf(file) ?? []);
	}

	async columns(): Promise<FoundColumns> {
		const { tables } = this;
		const files = tables.map((table) => table.found());
		const [only] = files;
		if (only !== undefined && files.length === 1) return only;
		return {
			names: new Set(files.flatMap(({ names }) => [...names])),
			hasWithin: () => false,
			slip: () => undefined,
			files: files.map((found, file) => ({ ...found, file: tables[file]?.file.name ?? '' })),
		};
	}

	async each(visit: Visit): Promise<void> {
		const numbers = new NumbersByRow();
		const checksums = new NumbersByRow();
		const begins: number[] = [];
		const rowsPerBreath = this.rowsAtOnce(ROWS_PER_YIELD);
		let index = 0;
		for (const [file, table] of this.tables.entries()) {
			begins.push(index);
			const cells = new CellCount(table.file);
			for await (const rows of table.file.rows()) {
				for (const row of rows) {
					if (index % rowsPerBreath === 0 && index > 0) await this.breathe();
					cells.add(row);
					numbers.set(index, row.number);
					checksums.set(index, checksumOf(row));
					if (this.total !== undefined) this.requireSame(row, index);
					visit(table.rowOf(row), index, table.faultOf(row), file);
					index++;
				}
			}
		}
		if (this.total !== undefined && this.total !== index) throw changedFile();
		this.numbers = numbers;
		this.checksums = checksums;
		this.begins = begins;
		this.total = index;
	}

	async pick(rows: readonly number[], visit: Visit): Promise<void> {
		const rowsPerTurn = this.rowsAtOnce(ROWS_PER_YIELD_IN_FLIGHT);
		for (const [nth, index] of rows.entries()) {
			if (nth % rowsPerTurn === 0) await this.breathe();
			if (this.place !== undefined && index < this.place.first) await this.close();
			this.place ??= new Place(this.tables);
			while (index >= this.place.end) if (!(await this.place.next())) throw changedFile();
			const { row, table, file } = this.place.at(index);
			this.requireSame(row, index);
			visit(table.rowOf(row), index, table.faultOf(row), file);
		}
	}

	/** @throws InvalidInput unless the row is the one that was checked */
	private requireSame(row: TableRow, index: number): void {
		const isSame =
			row.number === this.numbers.at(index) && checksumOf(row) === this.checksums.at(index);
		if (!isSame) throw changedFile();
	}

	/** Rows as they come out of the node, and where they stand in which file: that alone where they cannot be read again. */
	async output(rows: readonly number[]): Promise<JsonObject[]> {
		const found: JsonObject[] = [];
		try {
			await this.pick(rows, (row) => {
				found.push(ownCopy(row));
			});
		} catch {
			await this.close();
		}
		return rows.map((index, place) => ({
			...found[place],
			[SOURCE_FILE_COLUMN]: this.tables[this.fileOf(index)]?.file.name ?? '',
			[SOURCE_ROW_COLUMN]: this.numbers.at(index),
		}));
	}

	/** Fewer where they have many cells. */
	private rowsAtOnce(most: number): number {
		return Math.max(1, Math.min(most, Math.floor(MAX_CELLS_TOGETHER / this.width)));
	}

	/** Which of the files a row is in. */
	fileOf(row: number): number {
		return sortedLastIndex(this.begins, row) - 1;
	}

	async close(): Promise<void> {
		await this.place?.close();
		this.place = undefined;
	}

	get names(): RowNames {
		const of = (file: number) =>
			this.tables.length === 1 ? '' : ` of ${quoted(this.tables[file]?.file.name ?? '')}`;
		const numberOf = (row: number) => this.numbers.at(row);
		return {
			one: (row) => `row ${numberOf(row)}${of(this.fileOf(row))}`,
			several: (rows) => {
				const byFile = groupBy(rows, (row) => this.fileOf(row));
				const parts = Object.entries(byFile).map(
					([file, some]) => describeRows(some, 'row', numberOf) + of(Number(file)),
				);
				return parts.join('; ');
			},
			legend: 'Rows have the numbers that a spreadsheet program shows: the header is row 1.',
		};
	}
}

/** The event loop is held for some 50 ms. */
const MAX_CELLS_TOGETHER = 200_000;

function noteOf({ name, encoding: { fit } }: CsvFile): string | undefined {
	const file = `The file ${quoted(name)}`;
	if (fit === 'damaged') {
		return `${file} is UTF-8 with some bytes that aren't. Each row with such a byte is rejected.`;
	}
	return fit === 'guessed'
		? `${file} isn't UTF-8 and doesn't name its encoding. It was read as Windows-1252. Check letters such as é in the rows, and if they are wrong, set 'Encoding' in 'Options' for the next push.`
		: undefined;
}

/** A place in the files that only goes forward. */
class Place {
	/** The rows at hand, from `first` up to `end`. */
	first = 0;
	end = 0;
	private rows: TableRow[] = [];
	private table: Table | undefined;
	private file = 0;
	private readonly parts: AsyncGenerator<Part, undefined>;

	constructor(tables: readonly Table[]) {
		this.parts = partsOf(tables);
	}

	/** Goes on to the next rows; false where there are no more. */
	async next(): Promise<boolean> {
		const { value: part, done } = await this.parts.next().catch((error: unknown) => {
			// All rows could be read when they were checked.
			throw error instanceof InvalidInput ? changedFile() : error;
		});
		if (done === true) return false;
		({ rows: this.rows, table: this.table, file: this.file } = part);
		this.first = this.end;
		this.end += this.rows.length;
		return true;
	}

	at(index: number): Omit<Part, 'rows'> & { row: TableRow } {
		const { table, file } = this;
		const row = this.rows[index - this.first];
		if (row === undefined || table === undefined) throw changedFile();
		return { row, table, file };
	}

	async close(): Promise<void> {
		await this.parts.return(undefined);
	}
}

/** Different for nearly every other row (FNV-1a). */
function checksumOf({ cells }: TableRow): number {
	let sum = 0x811c9dc5;
	for (const cell of cells) {
		for (let at = 0; at < cell.length; at++) sum = Math.imul(sum ^ cell.charCodeAt(at), FNV_PRIME);
		sum = Math.imul(sum ^ END_OF_CELL, FNV_PRIME);
	}
	return sum;
}

const FNV_PRIME = 0x01000193;
/** No UTF-16 unit has it. */
const END_OF_CELL = 0x10000;

type Part = { table: Table; file: number; rows: TableRow[] };

async function* partsOf(tables: readonly Table[]): AsyncGenerator<Part, undefined> {
	for (const [file, table] of tables.entries()) {
		for await (const rows of table.file.rows()) yield { table, file, rows };
	}
	return undefined;
}

/** A cell is cut out of a piece of the file, and would keep all of that in memory for as long as the row comes out of the node. */
function ownCopy(row: ContactRow): JsonObject {
	const copy = parseJson(JSON.stringify(row));
	return isJsonObject(copy) ? copy : {};
}
