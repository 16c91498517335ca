import sumBy from 'lodash/sumBy';
import { isCampaignPhone } from '../../core/phone/campaignPhone';

/**
 * Parses delimited text that arrives in pieces. Nodes can't have dependencies, so this implements RFC 4180 the way
 * spreadsheet programs read and write it:
 *
 * - A row ends with CR LF, LF, or CR. A file may have all three, if it was joined from several files.
 * - A quoted cell may contain delimiters, line breaks, and doubled quotes. A quote only counts at the start of a cell, after
 *   spaces if there are any: `5" pipe` is text. Text after the closing quote belongs to the cell, unless it is white space.
 *   So an undoubled quote only damages its own cell.
 * - Databases write `\"` for a quote. Where the cell could end, this counts only after an earlier one in the cell, because
 *   `"C:\"` ends with a backslash, or before a last quote, as in `"5\""`.
 * - If such a cell has line breaks too, its quote has run into later rows, which would be lost. The parser throws.
 * - Blank and short rows are left to the caller.
 */
export class CsvParser {
	/** The beginning of an incomplete row. */
	private rest = '';
	/** An incomplete row is parsed again from its start, so only when the text has doubled. */
	private parseAtLength = 0;
	/** Complete rows so far. */
	private rows = 0;
	private readonly delimiter: number;
	/** Whether the last row has no line break, so that the text may be cut off. */
	endsInRow = false;

	/** @param delimiter one UTF-16 unit, neither a quote nor a line break. Empty if rows have one cell. */
	constructor(delimiter: string) {
		this.delimiter = delimiter === '' ? NO_DELIMITER : delimiter.charCodeAt(0);
	}

	/**
	 * @returns the rows that this piece completes
	 *
	 * @throws UnreadableRow
	 */
	write(piece: string): string[][] {
		this.rest += piece;
		return this.rest.length < this.parseAtLength ? [] : this.parse(this.rest, false);
	}

	/** @returns the last row, if it has no line break */
	end(): string[][] {
		return this.parse(this.rest, true);
	}

	private parse(text: string, isLast: boolean): string[][] {
		const found: string[][] = [];
		let start = 0;
		while (start < text.length) {
			const cells: string[] = [];
			const next = this.readRow(text, start, isLast, cells);
			if (next === INCOMPLETE) break;
			found.push(cells);
			start = next;
			this.rows++;
		}
		this.rest = text.slice(start);
		this.parseAtLength = Math.min(2 * this.rest.length, MAX_ROW_CHARACTERS + 1);
		if (this.rest.length > MAX_ROW_CHARACTERS)
			throw this.unreadable(text.charCodeAt(start) === QUOTE);
		return found;
	}

	/** @returns the start of the next row, or `INCOMPLETE` */
	private readRow(text: string, start: number, isLast: boolean, cells: string[]): number {
		let at = start;
		for (;;) {
			let cell = '';
			let from = at;
			const quote = this.skipSpaces(text, at);
			if (text.charCodeAt(quote) === QUOTE) {
				from = quote;
				let hasBackslashes = false;
				for (;;) {
					const close = text.indexOf('"', from + 1);
					if (close === -1 && isLast) throw this.unreadable(true);
					// The next character shows whether the quote is doubled, and the one after it whether the cell ends there.
					const next = text.charCodeAt(close + 1);
					const last = next === QUOTE ? close + 1 : close;
					if (close === -1 || (last + 1 === text.length && !isLast)) return INCOMPLETE;
					const part = text.slice(from + 1, close);
					const isLastButOne = next === QUOTE && this.isEnd(text.charCodeAt(close + 2));
					if (
						endsInBackslash(part) &&
						(hasBackslashes || isLastButOne || !(next === QUOTE || this.isEnd(next)))
					) {
						hasBackslashes = true;
						cell += `${part.slice(0, -1)}"`;
						from = close;
						continue;
					}
					cell += part;
					from = close + 1;
					if (next !== QUOTE) break;
					cell += '"';
				}
			}
			const end = this.endOfCell(text, from);
			if (end === text.length && !isLast) return INCOMPLETE;
			const after = text.slice(from, end);
			if (from === at) cell = after;
			else if (after.trim() !== '') {
				if (BREAK.test(cell)) throw this.unreadable(true);
				cell += after;
			}
			cells.push(cell);
			if (end === text.length) {
				this.endsInRow = true;
				return end;
			}
			at = end + 1;
			if (text.charCodeAt(end) === this.delimiter) continue;
			if (text.charCodeAt(end) === LF) return at;
			// CR LF is one line break, even across two pieces.
			if (at === text.length && !isLast) return INCOMPLETE;
			return text.charCodeAt(at) === LF ? at + 1 : at;
		}
	}

	private skipSpaces(text: string, from: number): number {
		let at = from;
		const isBefore = (unit: number) => BEFORE_QUOTE.has(unit) && unit !== this.delimiter;
		while (isBefore(text.charCodeAt(at))) at++;
		return at;
	}

	/** Whether this character ends a cell. NaN is the end of the text. */
	private isEnd(unit: number): boolean {
		return [this.delimiter, LF, CR].includes(unit) || Number.isNaN(unit);
	}

	private endOfCell(text: string, from: number): number {
		let end = from;
		for (; end < text.length; end++) {
			const unit = text.charCodeAt(end);
			if (unit === this.delimiter || unit === LF || unit === CR) break;
		}
		return end;
	}

	private unreadable(isQuoted: boolean): UnreadableRow {
		return new UnreadableRow(this.rows + 1, isQuoted);
	}
}

/** A row without an end. `row` counts from 1, including blank rows. */
export class UnreadableRow extends Error {
	constructor(
		readonly row: number,
		readonly isQuoted: boolean,
	) {
		super(`${isQuoted ? 'A quote' : 'The text'} in row ${row} has no end`);
	}
}

/** A longer row is an unclosed quote, or the text isn't a table. */
export const MAX_ROW_CHARACTERS = 1_000_000;

const INCOMPLETE = -1;
const NO_DELIMITER = -1;
const QUOTE = 0x22;
/** Space, tab, and byte order mark. Joined files have marks in any row. */
const BEFORE_QUOTE = new Set([0x20, 0x09, 0xfeff]);
const BACKSLASH = 0x5c;
const LF = 0x0a;
const CR = 0x0d;
const BREAK = /[\r\n]/;

/** Not in two backslashes, which stand for one. */
function endsInBackslash(part: string): boolean {
	let first = part.length;
	while (part.charCodeAt(first - 1) === BACKSLASH) first--;
	return (part.length - first) % 2 === 1;
}

/** The delimiters of spreadsheet programs. The first is the default if the header can't be read. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** A first row that tells Excel the delimiter. */
const SEP_ROW = /^\ufeff*"?sep=(.)"?[\t ;,]*(?:\r\n|\n|\r)/i;

/** The delimiter (empty for one column), and the number of characters before the first row. */
export type Layout = { delimiter: string; skip: number };

/**
 * @param head the beginning of the text
 * @param isWhole whether `head` is the whole text
 */
export function layoutOf(head: string, isWhole: boolean): Layout {
	const [sepRow = '', named] = SEP_ROW.exec(head) ?? [];
	const text = head.slice(sepRow.length);
	return { delimiter: named ?? detectDelimiter(text, isWhole), skip: sepRow.length };
}

/**
 * Chooses the delimiter with which most rows have as many cells as the header. Among equals, the one with more phone numbers,
 * because names may have commas: `Rao, Asha;9876543210`. Then the one with more cells. If none of them splits the header, the
 * table has one column. If it can't be read, because a quote isn't closed, its line decides, so that the message names the row.
 */
function detectDelimiter(text: string, isWhole: boolean): string {
	const samples = DELIMITERS.map((delimiter) => {
		const [header = [], ...rows] = sampleOf(text, isWhole, delimiter);
		const { length: width } = header;
		const same = rows.filter((cells) => cells.length === width).length;
		return { delimiter, alike: rows.length === 0 ? 1 : same / rows.length, width, rows };
	});
	const isOneColumn = samples.every(({ width }) => width === 1);
	const found = samples.filter(({ width }) => width > 1);
	const fitting = withMost(found, ({ alike }) => alike);
	const telling = fitting.length > 1 ? withMost(fitting, ({ rows }) => phonesIn(rows)) : fitting;
	const [best] = withMost(telling, ({ width }) => width);
	if (best !== undefined || isOneColumn) return best?.delimiter ?? '';
	const [line = ''] = /\S.*/.exec(text) ?? [];
	const [most = DELIMITERS[0]] = withMost(DELIMITERS, (delimiter) => line.split(delimiter).length);
	return most;
}

/** All with the highest score, in their order. */
function withMost<T>(candidates: readonly T[], scoreOf: (candidate: T) => number): T[] {
	const scores = candidates.map(scoreOf);
	const most = Math.max(...scores);
	return candidates.filter((_candidate, index) => scores[index] === most);
}

function phonesIn(rows: readonly string[][]): number {
	return sumBy(rows, (cells) => cells.filter(isCampaignPhone).length);
}

function sampleOf(text: string, isWhole: boolean, delimiter: string): string[][] {
	const parser = new CsvParser(delimiter);
	try {
		const rows = parser.write(text);
		if (isWhole) rows.push(...parser.end());
		return rows.filter((cells) => !isBlankRow(cells));
	} catch {
		// The quotes may be valid with another delimiter.
		return [];
	}
}

export function isBlankRow(cells: readonly string[]): boolean {
	return cells.every((cell) => cell.trim() === '');
}
