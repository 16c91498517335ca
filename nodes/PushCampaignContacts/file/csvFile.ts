import findLastIndex from 'lodash/findLastIndex';
import isEqual from 'lodash/isEqual';
import upperFirst from 'lodash/upperFirst';
import { InvalidInput } from '../../shared/api/errors';
import { type Explanation, onScreenOnly } from '../../shared/api/resolution';
import { quoted } from '../../shared/values';
import type { ContactRow } from '../push/cells';
import { changedFile } from '../push/prepareRows';
import { MAX_FIRST_ROWS, type FoundColumns } from '../push/rows';
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

/** A file, or a text in a field, that should be CSV. */
export type Source = {
	/** Of the file, or of the field. */
	name: string;
	isPasted?: boolean;
	open: OpenFile;
};

/** `number` is as in a spreadsheet program: from 1, including the header and blank rows. */
export type TableRow = {
	number: number;
	cells: string[];
	/** True for a last row without a line break. The file may be cut off in it. */
	endsFile?: boolean;
};

/** A CSV file. It is read from the beginning each time its rows are needed. */
export class CsvFile {
	readonly found: FoundColumns;
	private readonly columns: readonly string[];
	/** The cell of each column. */
	private readonly cellIndexes: readonly number[];
	/** Whether characters of the rows that were read so far were replaced. */
	private isDamaged = false;
	/** The number of columns up to the last one with a name. A header may end with delimiters. */
	readonly namedWidth: number;

	private constructor(
		private readonly source: Source,
		private readonly encoding: Encoding,
		private readonly layout: Layout,
		/** Trimmed. */
		readonly header: readonly string[],
		below: readonly TableRow[] = [],
	) {
		const cells = new Map<string, number>();
		const repeated = new Set<string>();
		/** The last number used for each repeated heading: `Notes_2`, `Notes_3`. */
		const lastNumbers = new Map<string, number>();
		for (const [index, heading] of header.entries()) {
			// An object can't have a field `__proto__`.
			if (heading === '' || heading === '__proto__') continue;
			let name = heading;
			if (cells.has(heading)) {
				repeated.add(heading);
				let number = lastNumbers.get(heading) ?? 1;
				do name = `${heading}_${++number}`;
				while (cells.has(name));
				lastNumbers.set(heading, number);
			}
			cells.set(name, index);
		}
		this.columns = [...cells.keys()];
		this.cellIndexes = [...cells.values()];
		const first = below.map((row) => ({ json: this.rowOf(row), cells: row.cells }));
		const unknown = { hasPath: () => false, isEmpty: () => false };
		this.found = { names: new Set(this.columns), repeated, ...unknown, first };
		this.namedWidth = findLastIndex(header, (heading) => heading !== '') + 1;
	}

	/** @throws InvalidInput if it isn't CSV */
	static async open(source: Source): Promise<CsvFile> {
		const head = await headOf(source.open);
		const encoding = await encodingOf(source.open, head);
		const text = new TextDecoder(encoding).decode(head);
		const layout = layoutOf(text, head.length < HEAD_BYTES);
		const file = new CsvFile(source, encoding, layout, []);
		const rows: TableRow[] = [];
		for await (const more of file.records()) {
			rows.push(...more.slice(0, MAX_FIRST_ROWS + 1 - rows.length));
			if (rows.length > MAX_FIRST_ROWS) break;
		}
		const [first, ...below] = rows;
		if (first !== undefined) return new CsvFile(source, encoding, layout, headingsOf(first), below);
		throw invalidFile(
			source,
			'is empty, so nothing was sent',
			'Check that the export or upload was complete. The first row must name the columns.',
		);
	}

	get name(): string {
		return this.source.name;
	}

	/** For messages. */
	get label(): string {
		return labelOf(this.source);
	}

	get delimiter(): string {
		return this.layout.delimiter;
	}

	/** Hints about how the file was read. Complete after its rows were. */
	get notes(): readonly Explanation[] {
		const { label } = this;
		if (this.encoding === 'windows-1252') {
			const message = `${upperFirst(label)} was read as Windows-1252`;
			const resolution = onScreenOnly(
				"Check letters such as é in the rows. If they're wrong, save the file as CSV UTF-8 for the next push.",
			);
			return [{ message, resolution }];
		}
		if (!this.isDamaged) return [];
		const message = `Some characters of ${label} can't be read, so they became "${UNREADABLE}"`;
		const resolution = onScreenOnly(
			this.source.isPasted === true
				? 'Check the rows, and correct them for the next push.'
				: 'Check the rows. For the next push, correct the file and save it as CSV UTF-8.',
		);
		return [{ message, resolution }];
	}

	/**
	 * The non-blank rows below the header, in batches.
	 *
	 * @throws InvalidInput if a row can't be read, the header has changed, or the file has far fewer cells than its header
	 */
	async *rows(): AsyncGenerator<TableRow[]> {
		const { header } = this;
		let isHeader = true;
		let there = 0;
		let missing = 0;
		for await (const rows of this.records()) {
			if (isHeader) {
				const first = rows.shift();
				if (first === undefined) continue;
				if (!isEqual(headingsOf(first), header)) throw changedFile();
				isHeader = false;
			}
			// Short rows are filled. With a wide header, they could need 1,000 times the memory of the file.
			for (const { cells } of rows) {
				there += cells.length;
				missing += Math.max(0, header.length - cells.length);
			}
			if (missing > MAX_MISSING_CELLS + MAX_MISSING_PER_CELL * there) throw this.tooWide();
			yield rows;
		}
		if (isHeader) throw changedFile();
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

	private async *records(): AsyncGenerator<TableRow[]> {
		const parser = new CsvParser(this.layout.delimiter);
		let { skip } = this.layout;
		let number = 0;
		const toRows = (records: string[][]): TableRow[] => {
			const rows: TableRow[] = [];
			for (const cells of records) {
				number++;
				if (!isBlankRow(cells)) rows.push({ number, cells });
			}
			return rows;
		};
		try {
			for await (const piece of textOf(this.source.open, this.encoding)) {
				if (isBinary(piece, this.encoding)) throw notText(this.source);
				this.isDamaged ||= piece.includes(UNREADABLE);
				yield toRows(parser.write(piece.slice(skip)));
				skip = Math.max(0, skip - piece.length);
			}
			const rows = toRows(parser.end());
			const last = rows.at(-1);
			if (parser.endsInRow && last?.number === number) last.endsFile = true;
			yield rows;
		} catch (error) {
			throw error instanceof UnreadableRow ? unreadable(this.source, error) : error;
		}
	}

	private tooWide(): InvalidInput {
		return new InvalidInput(
			`The header of ${this.label} has ${this.header.length.toLocaleString('en-US')} columns, but most rows have far fewer cells. Nothing was sent`,
			onScreenOnly(
				'Check that the first row names the columns. Keep only the columns that you need.',
			),
		);
	}
}

function headingsOf({ cells }: TableRow): string[] {
	return cells.map((name) => name.trim());
}

/** Missing cells that any file may have. */
const MAX_MISSING_CELLS = 1_000_000;
/** Missing cells that a file may have in addition, for each of its cells. */
const MAX_MISSING_PER_CELL = 10;

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
