import findLastIndex from 'lodash/findLastIndex';
import groupBy from 'lodash/groupBy';
import sortedLastIndex from 'lodash/sortedLastIndex';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/modelAdvice';
import { shortFingerprint } from '../../shared/hash';
import { isJsonObject, parseJson, type JsonObject } from '../../shared/json';
import { isAccepted, readCampaignPhone } from '../../shared/phone/campaignPhone';
import { quoted } from '../../shared/values';
import { NumbersByRow } from '../feed/byRow';
import {
	ROWS_PER_BREATH,
	ROWS_PER_TURN,
	FEED_FILE_COLUMN,
	FEED_ROW_COLUMN,
	type Breathe,
	type FeedRow,
} from '../feed/feed';
import { changedFile } from '../feed/prepare';
import {
	describeRows,
	type FeedRows,
	type FoundColumns,
	type RowNames,
	type Visit,
} from '../feed/rows';
import { CsvFile, type Source, type TableRow, type Writing } from './csvFile';
import { UNREADABLE } from './encoding';

/**
 * The rows of CSV files, one file after the other. None is kept: what is needed again is read again, and for each row
 * only its number in the file is remembered.
 */
export class FileRows implements FeedRows {
	private numbers = new NumbersByRow();
	/** The row that each file begins with. */
	private begins: number[] = [];
	private total: number | undefined;
	/** How far rows have been picked. */
	private place: Place | undefined;

	/** Columns of the widest file: each row has as many cells, whether the file has them or not. */
	private readonly width: number;

	private constructor(
		private readonly tables: readonly Table[],
		private readonly breathe: Breathe,
	) {
		this.width = tables.reduce((most, { columns }) => Math.max(most, columns.length), 1);
	}

	/** @throws InvalidInput where one of them is no CSV file */
	static async open(
		sources: readonly Source[],
		writing: Writing,
		breathe: Breathe,
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
		const begins: number[] = [];
		const rowsPerBreath = this.rowsAtOnce(ROWS_PER_BREATH);
		let index = 0;
		for (const [file, table] of this.tables.entries()) {
			begins.push(index);
			const cells = new CellCount(table.file);
			for await (const rows of table.file.rows()) {
				for (const row of rows) {
					if (index % rowsPerBreath === 0 && index > 0) await this.breathe();
					cells.add(row);
					numbers.set(index, row.number);
					visit(table.rowOf(row), index, table.faultOf(row), file);
					index++;
				}
			}
		}
		if (this.total !== undefined && this.total !== index) throw changedFile();
		this.numbers = numbers;
		this.begins = begins;
		this.total = index;
	}

	async pick(rows: readonly number[], visit: Visit): Promise<void> {
		const rowsPerTurn = this.rowsAtOnce(ROWS_PER_TURN);
		for (const [nth, index] of rows.entries()) {
			if (nth % rowsPerTurn === 0) await this.breathe();
			if (this.place !== undefined && index < this.place.first) await this.close();
			this.place ??= new Place(this.tables);
			while (index >= this.place.end) if (!(await this.place.next())) throw changedFile();
			const found = this.place.at(index);
			if (found?.number !== this.numbers.at(index)) throw changedFile();
			visit(found.row, index, found.unusable, found.file);
		}
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
			[FEED_FILE_COLUMN]: this.tables[this.fileOf(index)]?.file.name ?? '',
			[FEED_ROW_COLUMN]: this.numbers.at(index),
		}));
	}

	/** Fewer where they have many cells. */
	private rowsAtOnce(most: number): number {
		return Math.max(1, Math.min(most, Math.floor(MOST_CELLS_AT_ONCE / this.width)));
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
const MOST_CELLS_AT_ONCE = 200_000;

/** A file, and how its rows become data. */
class Table {
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

	rowOf({ cells }: TableRow): FeedRow {
		const row: { [column: string]: string } = {};
		// By index: an iterator makes objects for each cell, and a large file has millions of them.
		for (let at = 0; at < this.columns.length; at++) {
			// A row that ends early has empty cells, as a spreadsheet program shows it.
			row[this.columns[at] ?? ''] = cells[this.places[at] ?? 0] ?? '';
		}
		return row;
	}

	/** Why a row can't be used. Its cells may be in the wrong columns: an unquoted delimiter shifts all after it, up to the end. */
	faultOf(row: TableRow): string | undefined {
		const { cells } = row;
		const { header, delimiter } = this.file;
		if (this.file.hasUnreadable(row)) return UNREADABLE_ROW;
		if (cells.some((cell, at) => BREAK.test(cell) && this.holdsRows(cells, at))) return RUN_ON_ROW;
		if (row.endsFile === true) {
			if (cells.length < header.length) return CUT_ROW;
			const cut = mayBeCut(cells.at(-1) ?? '');
			if (cut !== undefined) return cut;
		}
		if (cells.length <= this.namedWidth) return undefined;
		const beyond = cells.slice(this.namedWidth);
		const isBlank = beyond.every((cell) => cell.trim() === '');
		if (isBlank && cells.length <= header.length) return undefined;
		const found = `This row has ${cells.length} cells and the header ${this.namedWidth}, so they may be in the wrong columns`;
		return isBlank
			? `${found}. The ones beyond the last column are empty. Put quotes around a cell that contains the delimiter, or remove the delimiters at the end of the row.`
			: `${found}: ${quoted(beyond.join(delimiter))} is beyond the last one. Put quotes around a cell that holds the delimiter.`;
	}

	/** Whether the lines of a cell make whole rows with the cells around it, and the last one has its number where the row has it. */
	private holdsRows(cells: readonly string[], at: number): boolean {
		const { header, delimiter } = this.file;
		if (delimiter === '') return false;
		const lines = (cells[at] ?? '').split(BREAK).map((line) => line.split(delimiter));
		const rows = lines.filter((line) => line.join('').trim() !== '');
		const last = [...(rows.pop() ?? []), ...cells.slice(at + 1)];
		const first = [...cells.slice(0, at), ...(rows.shift() ?? [])];
		if ([first, ...rows, last].some(({ length }) => length !== header.length)) return false;
		return first.some((cell, place) => isNumber(cell) && isNumber(last[place] ?? ''));
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

const BREAK = /\r\n|\r|\n/;

function isNumber(cell: string): boolean {
	return isAccepted(readCampaignPhone(cell));
}

/** A quote that nobody closed ends at the next one, which may be rows below. */
const RUN_ON_ROW =
	'This row has a cell with line breaks whose lines look like rows of their own, so its quote may not be closed where the cell ends. Close or remove the quote. Nobody in this cell is called.';
const CUT_ROW =
	'This row is the last one of the file, and it has fewer cells than the header and no line break at its end, so the file may have been cut off. If the row is complete, add a line break after it.';
/** Ten digits that begin with 91 may be the beginning of 91 and the ten digits of somebody else. */
function mayBeCut(cell: string): string | undefined {
	const reading = readCampaignPhone(cell);
	if (!isAccepted(reading) || !reading.phone.startsWith('91')) return undefined;
	return `The last cell of this row may be cut off: no line break ends the file, and ${quoted(cell)} can be the beginning of a longer number. If the row is complete, add a line break after it.`;
}

const UNREADABLE_ROW = `This row has a character that can't be read, shown as "${UNREADABLE}". Correct it in the file and save the file as CSV UTF-8. If the file isn't UTF-8, set 'Encoding' in 'Options'.`;

function noteOf({ name, encoding: { fit } }: CsvFile): string | undefined {
	const file = `The file ${quoted(name)}`;
	if (fit === 'damaged') {
		return `${file} is UTF-8 with some bytes that aren't. Each row with such a byte is rejected.`;
	}
	return fit === 'guessed'
		? `${file} isn't UTF-8 and doesn't name its encoding. It was read as Windows-1252. Check letters such as é in the rows, and if they are wrong, set 'Encoding' in 'Options' for the next push.`
		: undefined;
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
const MOST_MISSING_CELLS = 1_000_000;
/** … so many for each that is there. */
const MOST_MISSING_FOR_EACH = 10;

/** Rows that end early get empty cells. Of a wide header over short rows these could be a thousand times the file. */
class CellCount {
	private there = 0;
	private missing = 0;

	constructor(private readonly file: CsvFile) {}

	/** @throws InvalidInput where the file has far fewer cells than its header says */
	add({ cells }: TableRow): void {
		const { header, name } = this.file;
		this.there += cells.length;
		this.missing += Math.max(0, header.length - cells.length);
		if (this.missing <= MOST_MISSING_CELLS + MOST_MISSING_FOR_EACH * this.there) return;
		throw new InvalidInput(
			`The header of the file ${quoted(name)} has ${header.length.toLocaleString('en-US')} columns, and most of its rows end long before, so nothing was sent`,
			onScreenOnly(
				'Look whether the first row really names the columns, and whether Delimiter in Options is the one of the file. Save it again with the columns that you need.',
			),
		);
	}
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

	at(
		index: number,
	): { row: FeedRow; number: number; file: number; unusable: string | undefined } | undefined {
		const { table, file } = this;
		const row = this.rows[index - this.first];
		if (row === undefined || table === undefined) return undefined;
		return { row: table.rowOf(row), number: row.number, file, unusable: table.faultOf(row) };
	}

	async close(): Promise<void> {
		await this.parts.return(undefined);
	}
}

type Part = { table: Table; file: number; rows: TableRow[] };

async function* partsOf(tables: readonly Table[]): AsyncGenerator<Part, undefined> {
	for (const [file, table] of tables.entries()) {
		for await (const rows of table.file.rows()) yield { table, file, rows };
	}
	return undefined;
}

/** A cell is cut out of a piece of the file, and would keep all of that in memory for as long as the row comes out of the node. */
function ownCopy(row: FeedRow): JsonObject {
	const copy = parseJson(JSON.stringify(row));
	return isJsonObject(copy) ? copy : {};
}
