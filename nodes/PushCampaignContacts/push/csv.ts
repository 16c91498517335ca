import upperFirst from 'lodash/upperFirst';
import { isCampaignPhone } from '../../core/phone/india';
import { InvalidInput } from '../../core/service/errors';
import type { Explanation } from '../../core/service/explanation';
import { Pauses } from '../../core/values/pauses';
import { quoted } from '../../core/values/values';
import {
	type ContactRow,
	MAX_FIRST_ROWS,
	PUSH_LIMITS,
	type PushInput,
	requireMaxRows,
	Row,
	type Table,
} from './rows';

/** A file, or a text in a field, that should be CSV. */
export type Source = {
	/** Of the file, or of the field. */
	name: string;
	isPasted?: boolean;
	/** The input item that has it. */
	item: number;
	open: () => Buffer | Promise<Buffer>;
};

/** In an output, beside its characters. */
const SIZE_OF_CELL = 20;

/**
 * The rows of CSV files, one file after the other. Each has its own header.
 *
 * @throws InvalidInput if a file can't be read, or they are too large
 */
export async function rowsOfFiles(sources: readonly Source[]): Promise<PushInput> {
	const rows: Row[] = [];
	const tables: FileTable[] = [];
	const hints: Explanation[] = [];
	const [only] = sources.length === 1 ? sources : [];
	let characters = 0;
	let cells = 0;
	for (const source of sources) {
		const { pieces, isGuessed } = await decoded(source, await source.open());
		if (isGuessed) hints.push(guessedEncoding(source));
		const pauses = new Pauses();
		let table: FileTable | undefined;
		for (const record of recordsIn(pieces, source)) {
			if (pauses.isDue()) await pauses.take();
			if (table === undefined) {
				table = new FileTable(record, source, only === undefined);
				continue;
			}
			const { number, text } = record;
			const row = new Row(table, number, source.item, text);
			rows.push(row);
			if (table.first.length < MAX_FIRST_ROWS) table.first.push(row);
			const fault = table.faultOf(record);
			if (fault !== undefined) row.settled = { status: 'rejected', reason: fault };
			characters += text.length;
			// Also those that are missing in short rows.
			cells += table.names.size;
			if (characters > PUSH_LIMITS.characters || cells > PUSH_LIMITS.cells) throw tooLarge();
			requireMaxRows(rows.length);
		}
		if (table === undefined) throw empty(source);
		tables.push(table);
	}
	const { outputRows, outputSize } = PUSH_LIMITS;
	const isLarge = rows.length > outputRows || characters + SIZE_OF_CELL * cells > outputSize;
	const legend =
		only === undefined
			? 'Row numbers are as in a spreadsheet program. The header of each file is row 1.'
			: `Row numbers of ${labelOf(only)} are as in a spreadsheet program. The header is row 1.`;
	return { rows, tables, hints, isLarge, legend };
}

/** The columns of a file, which its first row that isn't blank names. */
class FileTable implements Table {
	readonly file: string | undefined;
	private readonly delimiter: string;
	readonly names: ReadonlySet<string>;
	readonly repeated = new Set<string>();
	readonly first: Row[] = [];
	/** A cell has no paths. */
	readonly hasPath = () => false;
	/** The name of each column. Empty for those without one. */
	private readonly header: string[];
	/** Up to the last column with a name, because a header may end with delimiters. */
	private readonly width: number;

	/** @param isOneOfSeveral whether messages name the file */
	constructor({ cells, delimiter }: CsvRecord, { name }: Source, isOneOfSeveral: boolean) {
		this.file = isOneOfSeveral ? name : undefined;
		this.delimiter = delimiter;
		const names = new Set<string>();
		/** The last number of each repeated heading: `Notes_2`. */
		const numbers = new Map<string, number>();
		this.header = cells.map((cell) => {
			const heading = cell.trim();
			// An object can't have a field `__proto__`.
			if (heading === '' || heading === '__proto__') return '';
			if (names.has(heading)) this.repeated.add(heading);
			let unique = heading;
			let number = numbers.get(heading) ?? 1;
			while (names.has(unique)) unique = `${heading}_${++number}`;
			numbers.set(heading, number);
			names.add(unique);
			return unique;
		});
		this.names = names;
		this.width = this.header.findLastIndex(Boolean) + 1;
	}

	rowOf(text: string): ContactRow {
		const cells = cellsOf(text, this.delimiter);
		const row: { [column: string]: string } = {};
		// Missing cells at the end of a row are empty, as in a spreadsheet program.
		for (const [at, name] of this.header.entries()) if (name !== '') row[name] = cells[at] ?? '';
		return row;
	}

	/** Why a row can't be used: its cells may be in the wrong columns, or missing. */
	faultOf({ number, cells, isCutOff }: CsvRecord): string | undefined {
		if (cells.some((cell) => /[\r\n]/.test(cell) && hasLineWithPhone(cell)))
			return `A cell of row ${number} has several lines with a phone number, so its quote may not be closed. Close or remove the quote. Nobody in this cell is called.`;
		if (isCutOff && cells.length < this.header.length)
			return `Row ${number} is the last row of the file. It has fewer cells than the header and no line break at its end, so the file may be cut off. If the row is complete, add a line break after it.`;
		const isBlankFrom = (width: number) => cells.slice(width).every((cell) => cell.trim() === '');
		if (cells.length <= this.header.length && isBlankFrom(this.width)) return undefined;
		return `Row ${number} has ${cells.length} cells, but the header names ${this.width} columns, so cells may be in the wrong columns. Put quotes around a cell that contains the delimiter, or remove the extra delimiters.`;
	}
}

/** As in a quote that isn't closed before the next rows. */
function hasLineWithPhone(cell: string): boolean {
	return cell.split(/[\r\n]+/).some((line) => line.split(/[,;\t|]/).some(isCampaignPhone));
}

/** Small enough to block n8n for only a few milliseconds. */
const PIECE_BYTES = 65_536;
/** Replaces bytes that aren't text. */
const UNREADABLE = '\ufffd';
const LETTER = /[^\0-\x7f\ufffd]/;
/** Bytes without a character in Windows-1252. */
const NOT_IN_WINDOWS_1252 = /[\x81\x8d\x8f\x90\x9d]/;

/**
 * The text of a file in pieces. Windows-1252 is the plain CSV encoding of Excel in most countries. Other encodings rarely look
 * like multi-byte letters of UTF-8, so a file with any such letter is UTF-8, even if other bytes are damaged.
 *
 * @throws InvalidInput if it isn't text
 */
async function decoded(
	source: Source,
	bytes: Buffer,
): Promise<{ pieces: string[]; isGuessed: boolean }> {
	const [first, second] = bytes;
	const isMarked = bytes.toString('latin1', 0, 3) === 'ï»¿';
	const big = first === 0xfe && second === 0xff && 'utf-16be';
	const encoding = big || (first === 0xff && second === 0xfe ? 'utf-16le' : 'utf-8');
	let pieces = await piecesOf(bytes, encoding);
	const isDamaged = pieces.some((piece) => piece.includes(UNREADABLE));
	const isGuessed =
		encoding === 'utf-8' && !isMarked && isDamaged && !pieces.some((piece) => LETTER.test(piece));
	if (isGuessed) pieces = await piecesOf(bytes, 'windows-1252');
	const isText = (piece: string) =>
		!piece.includes('\0') && !(isGuessed && NOT_IN_WINDOWS_1252.test(piece));
	if (!pieces.every(isText)) throw notText(source);
	return { pieces, isGuessed };
}

async function piecesOf(bytes: Buffer, encoding: string): Promise<string[]> {
	const decoder = new TextDecoder(encoding);
	const pieces: string[] = [];
	const pauses = new Pauses();
	for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
		if (pauses.isDue()) await pauses.take();
		const piece = decoder.decode(bytes.subarray(from, from + PIECE_BYTES), { stream: true });
		// Joined files have byte order marks in any row.
		pieces.push(piece.replaceAll('\ufeff', ''));
	}
	pieces.push(decoder.decode());
	return pieces;
}

type CsvRecord = {
	/** As in a spreadsheet program: from 1, including the header and blank rows. */
	number: number;
	cells: string[];
	/** The same as in the file, without the line break. */
	text: string;
	delimiter: string;
	/** Whether it's the last one, without a line break. */
	isCutOff: boolean;
};

/** A longer row is a quote that isn't closed, or the text isn't a table. */
const MAX_ROW_CHARACTERS = 1_000_000;

/**
 * The rows that aren't blank, of RFC 4180 text.
 *
 * @throws InvalidInput if a row has no end
 */
function* recordsIn(pieces: readonly string[], source: Source): Generator<CsvRecord> {
	let number = 0;
	let delimiter: string | undefined;
	let rest = '';
	for (const [nth, piece] of pieces.entries()) {
		const isLast = nth === pieces.length - 1;
		let text = rest + piece;
		if (delimiter === undefined) {
			const layout = layoutOf(text);
			text = text.slice(layout.skip);
			({ delimiter } = layout);
		}
		let start = 0;
		while (start < text.length) {
			const row = readRow(text, start, delimiter, isLast);
			if (row === undefined) break;
			number++;
			const { cells, end, next } = row;
			const record = { number, cells, text: text.slice(start, end), delimiter };
			start = next;
			if (cells.some((cell) => cell.trim() !== ''))
				yield { ...record, isCutOff: next === end && next === text.length };
		}
		rest = text.slice(start);
		if (rest !== '' && (isLast || rest.length > MAX_ROW_CHARACTERS))
			throw withoutEnd(source, number + 1);
	}
}

const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Excel reads the delimiter from such a first row. */
const SEP_ROW = /^"?sep=(.)"?[\t ;,]*(?:\r\n|\n|\r)/i;

/**
 * The delimiter that splits the header into the most cells, and of those that the next row has as many of, if there are any.
 * Empty if none splits it: the table has one column. `skip`: the characters before the header.
 */
function layoutOf(text: string): { delimiter: string; skip: number } {
	const [sepRow = '', named] = SEP_ROW.exec(text) ?? [];
	if (named !== undefined) return { delimiter: named, skip: sepRow.length };
	let best = { delimiter: '', score: 0 };
	const start = Math.max(0, text.search(/\S/));
	for (const delimiter of DELIMITERS) {
		const header = readRow(text, start, delimiter, true);
		const width = header?.cells.length ?? 1;
		const next = header && readRow(text, header.next, delimiter, true);
		const score = width === 1 ? 0 : width + (next?.cells.length === width ? text.length : 0);
		if (score > best.score) best = { delimiter, score };
	}
	return { delimiter: best.delimiter, skip: 0 };
}

const SPACE = 0x20;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Reads a row. A quote counts only at the start of a cell, after spaces if there are any, so `5" pipe` is text. Text after the
 * closing quote belongs to the cell, unless it's white space.
 *
 * @returns where it ends, and where the next one starts. Undefined if the text ends before, or in a quote.
 */
function readRow(
	text: string,
	start: number,
	delimiter: string,
	isLast: boolean,
): { cells: string[]; end: number; next: number } | undefined {
	const separator = delimiter.charCodeAt(0);
	const cells: string[] = [];
	for (let at = start; ; at++) {
		let cell = '';
		let quote = at;
		while (text.charCodeAt(quote) === SPACE) quote++;
		const isQuoted = text.charAt(quote) === '"';
		if (isQuoted) {
			const close = closingQuote(text, quote);
			// The next character shows whether the quote is doubled.
			if (close === -1 || (close === text.length - 1 && !isLast)) return undefined;
			cell = text.slice(quote + 1, close).replaceAll('""', '"');
			at = close + 1;
		}
		const from = at;
		for (; at < text.length; at++) {
			const unit = text.charCodeAt(at);
			if (unit === separator || unit === LF || unit === CR) break;
		}
		const after = text.slice(from, at);
		cells.push(isQuoted && after.trim() === '' ? cell : cell + after);
		// Also if a piece ends between CR and LF, which are one line break.
		if (!isLast && at >= text.length - 1) return undefined;
		if (text.charCodeAt(at) === separator) continue;
		const width = text.startsWith('\r\n', at) ? 2 : 1;
		return { cells, end: at, next: Math.min(at + width, text.length) };
	}
}

/** The index of the quote that ends a cell. -1 if there's none. */
function closingQuote(text: string, quote: number): number {
	let close = text.indexOf('"', quote + 1);
	while (close !== -1 && text.charAt(close + 1) === '"') close = text.indexOf('"', close + 2);
	return close;
}

function cellsOf(text: string, delimiter: string): string[] {
	if (delimiter !== '' && !text.includes('"')) return text.split(delimiter);
	return readRow(text, 0, delimiter, true)?.cells ?? [];
}

function guessedEncoding(source: Source): Explanation {
	return {
		message: `${upperFirst(labelOf(source))} was read as Windows-1252`,
		resolution:
			"Check letters such as é in the rows. If they're wrong, save the file as CSV UTF-8 for the next push.",
	};
}

function tooLarge(): InvalidInput {
	const { characters, cells } = PUSH_LIMITS;
	const [maxCharacters, maxCells] = [characters, cells].map((max) => max.toLocaleString('en-US'));
	return new InvalidInput(
		`The input has more than ${maxCharacters} characters or ${maxCells} cells, the most that a push can have, so nothing was sent`,
		"Remove the columns that you don't need, or push fewer rows at a time.",
	);
}

function empty(source: Source): InvalidInput {
	return invalidFile(
		source,
		'is empty, so nothing was sent',
		'Check that the export or upload was complete. The first row must name the columns.',
	);
}

function notText(source: Source): InvalidInput {
	return invalidFile(
		source,
		"can't be read as CSV, so nothing was sent",
		"Save it as CSV UTF-8. Or for an Excel workbook, add an Extract from File node before this one, and set 'Contacts From' to 'Input Items'.",
	);
}

function withoutEnd(source: Source, row: number): InvalidInput {
	const max = MAX_ROW_CHARACTERS.toLocaleString('en-US');
	return invalidFile(
		source,
		`has no end of row ${row}, so nothing was sent. A quote isn't closed, or the row has more than ${max} characters`,
		'Close or remove the quote. Double a quote that is inside a quoted cell. Check that there is one line per person.',
	);
}

function invalidFile(source: Source, issue: string, resolution: string): InvalidInput {
	return new InvalidInput(`${upperFirst(labelOf(source))} ${issue}`, resolution);
}

function labelOf({ name, isPasted }: Source): string {
	return isPasted === true ? `'${name}'` : `the file ${quoted(name)}`;
}
