import maxBy from 'lodash/maxBy';
import upperFirst from 'lodash/upperFirst';
import { isCampaignPhone } from '../../core/phone/india';
import { InvalidInput } from '../../core/service/errors';
import type { Explanation } from '../../core/service/explanation';
import { Pauses } from '../../core/values/pauses';
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
	/** In messages, such as `the file "a.csv"`. */
	label: string;
	/** The name of the file, if there are several. */
	file?: string;
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
	const pauses = new Pauses();
	let bytes = 0;
	let cells = 0;
	for (const source of sources) {
		const content = await source.open();
		bytes += content.length;
		if (bytes > PUSH_LIMITS.bytes) throw tooLarge();
		const { text, isGuessed } = decoded(content, source);
		if (isGuessed) {
			const message = `${upperFirst(source.label)} was read as Windows-1252`;
			hints.push({ message, resolution: CHECK_LETTERS });
		}
		let table: FileTable | undefined;
		for (const record of recordsIn(text, source)) {
			if (pauses.isDue()) await pauses.take();
			if (table === undefined) {
				table = new FileTable(record, source.file);
				continue;
			}
			const row = new Row(table, record.number, source.item, record.text);
			rows.push(row);
			if (table.sample.length < MAX_FIRST_ROWS) table.sample.push(row);
			const fault = table.faultOf(record);
			if (fault !== undefined) row.settled = { status: 'rejected', reason: fault };
			// Also those that are missing in short rows.
			cells += table.names.size;
			if (cells > PUSH_LIMITS.cells) throw tooLarge();
			requireMaxRows(rows.length);
		}
		if (table === undefined) throw invalidFile(source, 'is empty', NAME_COLUMNS);
		tables.push(table);
	}
	const { outputRows, outputSize } = PUSH_LIMITS;
	const isLarge = rows.length > outputRows || bytes + SIZE_OF_CELL * cells > outputSize;
	return { rows, tables, hints, isLarge, legend: LEGEND };
}

/** The columns of a file, which its first row that isn't blank names. */
class FileTable implements Table {
	readonly names = new Set<string>();
	readonly repeated = new Set<string>();
	readonly sample: Row[] = [];
	private readonly delimiter: string;
	/** The name of each column. Empty for those without one. */
	private readonly header: string[];
	/** Up to the last column with a name, because a header may end with delimiters. */
	private readonly width: number;

	constructor(
		{ cells, delimiter }: CsvRecord,
		readonly file: string | undefined,
	) {
		this.delimiter = delimiter;
		this.header = cells.map((cell, at) => {
			const heading = cell.trim();
			if (!this.names.has(heading)) {
				if (heading !== '') this.names.add(heading);
				return heading;
			}
			this.repeated.add(heading);
			const name = `${heading}_${at + 1}`;
			this.names.add(name);
			return name;
		});
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

/** Replaces bytes that aren't text. */
const UNREADABLE = '\ufffd';
const LETTER = /[^\0-\x7f\ufffd]/;
/** Bytes without a character in Windows-1252. */
const NOT_IN_WINDOWS_1252 = /[\x81\x8d\x8f\x90\x9d]/;

/**
 * Windows-1252 is the plain CSV encoding of Excel in most countries. Other encodings rarely look like multi-byte letters of
 * UTF-8, so a file with any such letter is UTF-8, even if other bytes are damaged.
 *
 * @throws InvalidInput if it isn't text
 */
function decoded(bytes: Buffer, source: Source): { text: string; isGuessed: boolean } {
	const mark = bytes.toString('latin1', 0, 3);
	const utf16 = mark.startsWith('ÿþ') ? 'utf-16le' : mark.startsWith('þÿ') && 'utf-16be';
	const utf = new TextDecoder(utf16 || 'utf-8').decode(bytes);
	const isUtf = utf16 !== false || mark === 'ï»¿' || !utf.includes(UNREADABLE) || LETTER.test(utf);
	const text = isUtf ? utf : new TextDecoder('windows-1252').decode(bytes);
	const isText = !text.includes('\0') && (isUtf || !NOT_IN_WINDOWS_1252.test(text));
	if (!isText) throw invalidFile(source, "can't be read as CSV", SAVE_AS_CSV);
	return { text, isGuessed: !isUtf };
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

/**
 * The rows that aren't blank, of RFC 4180 text.
 *
 * @throws InvalidInput if a quote isn't closed
 */
function* recordsIn(text: string, source: Source): Generator<CsvRecord> {
	// Excel reads the delimiter from such a first row.
	const [sepRow = '', named] = /^"?sep=(.)"?[\t ;,]*(?:\r\n|\n|\r)/i.exec(text) ?? [];
	const delimiter = named ?? delimiterOf(text);
	for (let start = sepRow.length, number = 1; start < text.length; number++) {
		const row = readRow(text, start, delimiter);
		if (row === undefined) {
			const issue = `has a quote in row ${number} that isn't closed`;
			throw invalidFile(source, issue, CLOSE_QUOTE);
		}
		const { cells, end, next } = row;
		if (cells.some((cell) => cell.trim() !== ''))
			yield { number, cells, text: text.slice(start, end), delimiter, isCutOff: next === end };
		start = next;
	}
}

/** A comma is the likeliest one in the name of a column. */
const DELIMITERS = ['\t', ';', '|', ','];

/** The one that splits the header into the most cells. */
function delimiterOf(text: string): string {
	const start = Math.max(0, text.search(/\S/));
	return maxBy(DELIMITERS, (one) => readRow(text, start, one)?.cells.length ?? 0) ?? ',';
}

const SPACE = 0x20;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Reads a row. A quote counts only at the start of a cell, after spaces if there are any, so `5" pipe` is text. Text after the
 * closing quote belongs to the cell, unless it's white space.
 *
 * @returns where it ends, and where the next one starts. Undefined if a quote isn't closed.
 */
function readRow(
	text: string,
	start: number,
	delimiter: string,
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
			if (close === -1) return undefined;
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
	if (!text.includes('"')) return text.split(delimiter);
	return readRow(text, 0, delimiter)?.cells ?? [];
}

const LEGEND = 'Row numbers are as in a spreadsheet program, with the header of each file.';
const CHECK_LETTERS =
	"Check letters such as é in the rows. If they're wrong, save the file as CSV UTF-8 for the next push.";
const NAME_COLUMNS =
	'Check that the export or upload was complete. The first row must name the columns.';
const SAVE_AS_CSV =
	"Save it as CSV UTF-8. Or for an Excel workbook, add an Extract from File node before this one, and set 'Contacts From' to 'Input Items'.";
const CLOSE_QUOTE =
	'Close or remove the quote. Double a quote that is inside a quoted cell. Check that there is one line per person.';

function tooLarge(): InvalidInput {
	const megabytes = PUSH_LIMITS.bytes / 1_000_000;
	const cells = PUSH_LIMITS.cells.toLocaleString('en-US');
	return new InvalidInput(
		`The input has more than ${megabytes} MB or ${cells} cells, the most that a push can have, so nothing was sent`,
		"Remove the columns that you don't need, or push fewer rows at a time.",
	);
}

function invalidFile({ label }: Source, issue: string, resolution: string): InvalidInput {
	return new InvalidInput(`${upperFirst(label)} ${issue}, so nothing was sent`, resolution);
}
