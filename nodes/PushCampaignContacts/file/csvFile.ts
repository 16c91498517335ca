import findLastIndex from 'lodash/findLastIndex';
import upperFirst from 'lodash/upperFirst';
import { InvalidInput } from '../../core/service/errors';
import { type Explanation, onScreenOnly } from '../../core/service/resolution';
import { Pauses } from '../../core/values/pauses';
import { quoted } from '../../core/values/values';
import { isBlank } from '../../core/phone/written';
import type { ContactRow } from '../push/cells';
import {
	type FirstRow,
	MAX_FIRST_ROWS,
	type PushInput,
	requireMaxRows,
	Row,
	settle,
	type Table,
} from '../push/rows';
import {
	CsvParser,
	isBlankRow,
	layoutOf,
	MAX_ROW_CHARACTERS,
	UnreadableRow,
	type Layout,
} from './csv';
import {
	encodingOf,
	HEAD_BYTES,
	headOf,
	isBinary,
	textOf,
	UNREADABLE,
	type Encoding,
	type OpenFile,
} from './encoding';
import { faultOf } from './faults';

/** A file, or a text in a field, that should be CSV. */
export type Source = {
	/** Of the file, or of the field. */
	name: string;
	isPasted?: boolean;
	open: OpenFile;
	/** The input item that has it. */
	item: number;
};

/** `number` is as in a spreadsheet program: from 1, including the header and blank rows. */
export type CsvRow = {
	number: number;
	cells: string[];
	/** True for a last row without a line break. The file may be cut off in it. */
	endsFile?: boolean;
};

/** An n8n with a heap of 1 GB can store an output with this many rows of a few columns. */
const MAX_OUTPUT_ROWS = 500_000;
/** Of all rows of an output: their characters, and in addition for each cell. Those of a few columns have about 130. */
const MAX_OUTPUT_SIZE = 75_000_000;
const SIZE_OF_CELL = 20;

/**
 * They are in memory until the push has ended, with two bytes each if the row has a letter that isn't in Latin-1. With
 * 1,000,000 rows, that's 600 MB, which fits beside n8n in a heap of 1 GB.
 */
const MAX_CHARACTERS = 200_000_000;

/** What files have in total. */
type Files = { rows: FileRow[]; characters: number; cells: number };

/**
 * The rows of CSV files, one file after the other. Each has its own header.
 *
 * @throws InvalidInput if a file can't be read, or they are too large
 */
export async function rowsOfFiles(sources: readonly Source[]): Promise<PushInput> {
	const all: Files = { rows: [], characters: 0, cells: 0 };
	const files: Array<{ table: Table; hints: Explanation[] }> = [];
	const [only] = sources.length === 1 ? sources : [];
	for (const source of sources) {
		files.push(await readFile(source, only === undefined ? source.name : undefined, all));
	}
	const legend =
		only === undefined
			? 'Row numbers are as in a spreadsheet program. The header of each file is row 1.'
			: `Row numbers of ${labelOf(only)} are as in a spreadsheet program. The header is row 1.`;
	const size = all.characters + SIZE_OF_CELL * all.cells;
	const maxRowsOfSize = Math.floor((MAX_OUTPUT_SIZE * all.rows.length) / Math.max(size, 1));
	return {
		rows: all.rows,
		tables: files.map(({ table }) => table),
		hints: files.flatMap(({ hints }) => hints),
		maxOutputRows: Math.min(MAX_OUTPUT_ROWS, maxRowsOfSize),
		legend,
	};
}

/**
 * @param file its name in messages, if there are several
 * @param all what earlier files have, to which this adds its own
 */
async function readFile(source: Source, file: string | undefined, all: Files) {
	const head = await headOf(source.open);
	const encoding = await encodingOf(source.open, head);
	const text = new TextDecoder(encoding).decode(head);
	const layout = layoutOf(text, head.length < HEAD_BYTES);
	let table: FileTable | undefined;
	let isDamaged = false;
	let [there, missing] = [0, 0];
	const first: FirstRow[] = [];
	const pauses = new Pauses();
	const onDamage = () => (isDamaged = true);
	for await (const records of recordsOf(source, encoding, layout, onDamage)) {
		for (const record of records) {
			if (pauses.isDue()) await pauses.take();
			if (table === undefined) {
				const header = new CsvHeader(record, layout.delimiter);
				const { names, filled, repeated } = header;
				const columns = { header, names, filled, repeated, hasPath: () => false };
				table = { fileName: source.name, file, first, ...columns };
				continue;
			}
			const { header } = table;
			const { cells } = record;
			const row = new FileRow(all.rows.length, record, table, source.item);
			all.rows.push(row);
			all.characters += row.text.length;
			all.cells += header.names.size;
			header.noteFilled(cells);
			if (first.length < MAX_FIRST_ROWS) first.push({ json: row.json, cells });
			const fault = faultOf(record, header);
			if (fault !== undefined) settle(row, 'rejected', fault);
			// Short rows are filled when they are sent. With a wide header, they could have 1,000 times the size of the file.
			there += cells.length;
			missing += Math.max(0, header.header.length - cells.length);
			if (missing > MAX_MISSING_CELLS + MAX_MISSING_PER_CELL * there)
				throw tooWide(source, header.header.length);
		}
		requireMaxRows(all.rows.length);
		if (all.characters > MAX_CHARACTERS) throw tooLarge();
	}
	if (table !== undefined) return { table, hints: hintsOn(source, encoding, isDamaged) };
	throw invalidFile(
		source,
		'is empty, so nothing was sent',
		'Check that the export or upload was complete. The first row must name the columns.',
	);
}

type FileTable = Table & { readonly header: CsvHeader };

/** No cell has this character, because a file with it isn't text. */
const BETWEEN_CELLS = '\0';

/** Has its cells as one text, because an object for each of a million rows takes several times the memory. */
class FileRow extends Row {
	readonly text: string;

	constructor(
		index: number,
		{ number, cells }: CsvRow,
		override readonly table: FileTable,
		input: number,
	) {
		super(index, number, table, input);
		this.text = cells.join(BETWEEN_CELLS);
	}

	/** Made each time. */
	get json(): ContactRow {
		return this.table.header.rowOf(this.text.split(BETWEEN_CELLS));
	}
}

/** The first row of a file. */
export class CsvHeader {
	/** Trimmed. */
	readonly header: readonly string[];
	readonly names: ReadonlySet<string>;
	readonly repeated = new Set<string>();
	/** Columns that have a value in a row. */
	readonly filled = new Set<string>();
	/** The other columns, each with its cell. */
	private readonly unfilled: Map<string, number>;
	/** The number of columns up to the last one with a name. A header may end with delimiters. */
	readonly namedWidth: number;
	private readonly columns: readonly string[];
	/** The cell of each column. */
	private readonly cellIndexes: readonly number[];

	constructor(
		{ cells: headings }: CsvRow,
		readonly delimiter: string,
	) {
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
		this.unfilled = cells;
		this.columns = [...cells.keys()];
		this.cellIndexes = [...cells.values()];
		this.names = new Set(this.columns);
		this.namedWidth = findLastIndex(this.header, (heading) => heading !== '') + 1;
	}

	noteFilled(cells: readonly string[]): void {
		for (const [column, at] of this.unfilled) {
			if (isBlank(cells[at])) continue;
			this.filled.add(column);
			this.unfilled.delete(column);
		}
	}

	rowOf(cells: readonly string[]): ContactRow {
		const row: { [column: string]: string } = {};
		// An iterator would create an object for each of millions of cells.
		for (let at = 0; at < this.columns.length; at++) {
			// Missing cells at the end of a row are empty, as in a spreadsheet program.
			row[this.columns[at] ?? ''] = cells[this.cellIndexes[at] ?? 0] ?? '';
		}
		return row;
	}
}

/** The header and the non-blank rows of a file, in batches. */
async function* recordsOf(
	source: Source,
	encoding: Encoding,
	layout: Layout,
	onDamage: () => void,
): AsyncGenerator<CsvRow[]> {
	const parser = new CsvParser(layout.delimiter);
	let { skip } = layout;
	let number = 0;
	const toRows = (records: string[][]): CsvRow[] => {
		const rows: CsvRow[] = [];
		for (const cells of records) {
			number++;
			if (!isBlankRow(cells)) rows.push({ number, cells });
		}
		return rows;
	};
	try {
		for await (const piece of textOf(source.open, encoding)) {
			if (isBinary(piece, encoding)) throw notText(source);
			if (piece.includes(UNREADABLE)) onDamage();
			yield toRows(parser.write(piece.slice(skip)));
			skip = Math.max(0, skip - piece.length);
		}
		const rows = toRows(parser.end());
		const last = rows.at(-1);
		if (parser.endsInRow && last?.number === number) last.endsFile = true;
		yield rows;
	} catch (error) {
		throw error instanceof UnreadableRow ? unreadable(source, error) : error;
	}
}

/** Hints about how a file was read. */
function hintsOn(source: Source, encoding: Encoding, isDamaged: boolean): Explanation[] {
	const label = labelOf(source);
	if (encoding === 'windows-1252') {
		const message = `${upperFirst(label)} was read as Windows-1252`;
		const resolution = onScreenOnly(
			"Check letters such as é in the rows. If they're wrong, save the file as CSV UTF-8 for the next push.",
		);
		return [{ message, resolution }];
	}
	if (!isDamaged) return [];
	const message = `Some characters of ${label} can't be read, so they became "${UNREADABLE}"`;
	const resolution = onScreenOnly(
		source.isPasted === true
			? 'Check the rows, and correct them for the next push.'
			: 'Check the rows. For the next push, correct the file and save it as CSV UTF-8.',
	);
	return [{ message, resolution }];
}

/** Missing cells that any file may have. */
const MAX_MISSING_CELLS = 1_000_000;
/** Missing cells that a file may have in addition, for each of its cells. */
const MAX_MISSING_PER_CELL = 10;

function tooWide(source: Source, width: number): InvalidInput {
	return new InvalidInput(
		`The header of ${labelOf(source)} has ${width.toLocaleString('en-US')} columns, but most rows have far fewer cells. Nothing was sent`,
		onScreenOnly(
			'Check that the first row names the columns. Keep only the columns that you need.',
		),
	);
}

function tooLarge(): InvalidInput {
	const max = MAX_CHARACTERS.toLocaleString('en-US');
	return new InvalidInput(
		`The input has more than ${max} characters, the most that a push can have, so nothing was sent`,
		onScreenOnly("Remove the columns that you don't need, or push fewer rows at a time."),
	);
}

function notText(source: Source): InvalidInput {
	return invalidFile(
		source,
		"isn't text in UTF-8, UTF-16, or Windows-1252, so nothing was sent",
		"Save it as CSV UTF-8. Or add an Extract from File node before this one, and set 'Contacts From' to 'Input Items'.",
	);
}

function unreadable(source: Source, { row, isQuoted }: UnreadableRow): InvalidInput {
	return isQuoted
		? invalidFile(
				source,
				`has a quote in row ${row} that isn't closed, so the rows after it can't be read. Nothing was sent`,
				'Close or remove the quote. Double a quote that is inside a quoted cell.',
			)
		: invalidFile(
				source,
				`has more than ${MAX_ROW_CHARACTERS.toLocaleString('en-US')} characters in row ${row}, so nothing was sent`,
				'Check that it has one line per person.',
			);
}

function invalidFile(source: Source, issue: string, resolution: string): InvalidInput {
	return new InvalidInput(`${upperFirst(labelOf(source))} ${issue}`, onScreenOnly(resolution));
}

function labelOf({ name, isPasted }: Source): string {
	return isPasted === true ? `'${name}'` : `the file ${quoted(name)}`;
}
