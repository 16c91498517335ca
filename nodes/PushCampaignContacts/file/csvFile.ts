import upperFirst from 'lodash/upperFirst';
import { InvalidInput } from '../../core/service/errors';
import { type Explanation, onScreenOnly } from '../../core/service/resolution';
import { Pauses } from '../../core/values/pauses';
import { quoted } from '../../core/values/values';
import type { ContactRow } from '../push/cells';
import { PUSH_LIMITS, type PushInput, requireMaxRows, Row, settle } from '../push/rows';
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
import { type CsvRow, faultOf, FileTable } from './header';

/** A file, or a text in a field, that should be CSV. */
export type Source = {
	/** Of the file, or of the field. */
	name: string;
	isPasted?: boolean;
	open: OpenFile;
	/** The input item that has it. */
	item: number;
};

/** In an output, beside its characters. */
const SIZE_OF_CELL = 20;

/** What files have in total. */
type Files = { rows: FileRow[]; characters: number; cells: number };

/**
 * The rows of CSV files, one file after the other. Each has its own header.
 *
 * @throws InvalidInput if a file can't be read, or they are too large
 */
export async function rowsOfFiles(sources: readonly Source[]): Promise<PushInput> {
	const all: Files = { rows: [], characters: 0, cells: 0 };
	const files: Array<{ table: FileTable; hints: Explanation[] }> = [];
	const [only] = sources.length === 1 ? sources : [];
	for (const source of sources) {
		files.push(await readFile(source, only === undefined ? source.name : undefined, all));
	}
	const legend =
		only === undefined
			? 'Row numbers are as in a spreadsheet program. The header of each file is row 1.'
			: `Row numbers of ${labelOf(only)} are as in a spreadsheet program. The header is row 1.`;
	const size = all.characters + SIZE_OF_CELL * all.cells;
	const { outputRows, outputSize } = PUSH_LIMITS;
	const maxRowsOfSize = Math.floor((outputSize * all.rows.length) / Math.max(size, 1));
	return {
		rows: all.rows,
		tables: files.map(({ table }) => table),
		hints: files.flatMap(({ hints }) => hints),
		maxOutputRows: Math.min(outputRows, maxRowsOfSize),
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
	const pauses = new Pauses();
	const onDamage = () => (isDamaged = true);
	for await (const records of recordsOf(source, encoding, layout, onDamage)) {
		for (const record of records) {
			if (pauses.isDue()) await pauses.take();
			if (table === undefined) {
				table = new FileTable(record, layout.delimiter, source, file);
				continue;
			}
			const { header } = table;
			const { cells } = record;
			const row = new FileRow(all.rows.length, record, table);
			all.rows.push(row);
			all.characters += row.text.length;
			all.cells += table.names.size;
			table.note(row, cells);
			const fault = faultOf(record, table);
			if (fault !== undefined) settle(row, 'rejected', fault);
			// Short rows are filled when they are sent. With a wide header, they could have 1,000 times the size of the file.
			there += cells.length;
			missing += Math.max(0, header.length - cells.length);
			if (missing > MAX_MISSING_CELLS + MAX_MISSING_PER_CELL * there)
				throw tooWide(source, header.length);
		}
		requireMaxRows(all.rows.length);
		if (all.characters > PUSH_LIMITS.characters) throw tooLarge();
	}
	if (table !== undefined) return { table, hints: hintsOn(source, encoding, isDamaged) };
	throw invalidFile(
		source,
		'is empty, so nothing was sent',
		'Check that the export or upload was complete. The first row must name the columns.',
	);
}

/** No cell has this character, because a file with it isn't text. */
const BETWEEN_CELLS = '\0';

/** Has its cells as one text, because an object for each of a million rows takes several times the memory. */
class FileRow extends Row {
	readonly text: string;

	constructor(
		index: number,
		{ number, cells }: CsvRow,
		override readonly table: FileTable,
	) {
		super(index, number, table);
		this.text = cells.join(BETWEEN_CELLS);
	}

	get input(): number {
		return this.table.input;
	}

	/** Made each time. */
	get cells(): string[] {
		return this.text.split(BETWEEN_CELLS);
	}

	get json(): ContactRow {
		return this.table.rowOf(this.cells);
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
	const max = PUSH_LIMITS.characters.toLocaleString('en-US');
	return new InvalidInput(
		`The input has more than ${max} characters, the most that a push can have, so nothing was sent`,
		onScreenOnly("Remove the columns that you don't need, or push fewer rows at a time."),
	);
}

function notText(source: Source): InvalidInput {
	return invalidFile(
		source,
		"can't be read as CSV, so nothing was sent",
		"Save it as CSV UTF-8. Or for an Excel workbook, add an Extract from File node before this one, and set 'Contacts From' to 'Input Items'.",
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
