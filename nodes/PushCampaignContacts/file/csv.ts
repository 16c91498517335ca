/**
 * The rows of a delimited text, as it arrives in pieces. A node may bring no library along, so this is its own reading
 * of RFC 4180 as spreadsheet programs write it and read it:
 *
 * - A row ends with CR LF, LF or CR, also in one file, because files are put together from several.
 * - A cell in quotes holds delimiters, line breaks and, doubled, quotes. Only a quote that opens the cell counts: `5" pipe` is
 *   text. What follows the closing quote belongs to the cell, unless it
 *   is white space; so a name with quotes that nobody doubled harms its own cell alone.
 * - But where such a cell has line breaks too, its quote has run on into later rows, and they would be lost in it: that stops.
 * - Whether a row is blank, or has too few cells, is not judged here.
 */
export class CsvParser {
	/** Of a row that the pieces so far leave open. */
	private rest = '';
	/** An open row is begun again at its first character, so only when there is twice as much of it. */
	private enough = 0;
	/** Rows that are complete. */
	private rows = 0;
	private readonly delimiter: number;
	/** Whether the last row has no line break at its end, so that the text may have been cut off in it. */
	endsInRow = false;

	/** @param delimiter one UTF-16 unit, neither a quote nor a line break; empty where a row is one cell */
	constructor(delimiter: string) {
		this.delimiter = delimiter === '' ? NO_DELIMITER : delimiter.charCodeAt(0);
	}

	/**
	 * The rows that this piece completes.
	 *
	 * @throws UnreadableRow
	 */
	write(piece: string): string[][] {
		this.rest += piece;
		return this.rest.length < this.enough ? [] : this.parse(this.rest, false);
	}

	/** The last row, where no line break ends it. */
	end(): string[][] {
		return this.parse(this.rest, true);
	}

	private parse(text: string, isLast: boolean): string[][] {
		const found: string[][] = [];
		let start = 0;
		while (start < text.length) {
			const cells: string[] = [];
			const next = this.readRow(text, start, isLast, cells);
			if (next === OPEN) break;
			found.push(cells);
			start = next;
			this.rows++;
		}
		this.rest = text.slice(start);
		this.enough = Math.min(2 * this.rest.length, LONGEST_ROW + 1);
		if (this.rest.length > LONGEST_ROW) throw this.unreadable(text.charCodeAt(start) === QUOTE);
		return found;
	}

	/** Gives back where the next row begins, or that this one is open. */
	private readRow(text: string, start: number, isLast: boolean, cells: string[]): number {
		let at = start;
		for (;;) {
			let cell = '';
			let from = at;
			if (text.charCodeAt(at) === QUOTE) {
				for (;;) {
					const close = text.indexOf('"', from + 1);
					if (close === -1 && isLast) throw this.unreadable(true);
					// Whether it closes, or is the first of two, shows what follows.
					if (close === -1 || (close + 1 === text.length && !isLast)) return OPEN;
					cell += text.slice(from + 1, close);
					from = close + 1;
					if (text.charCodeAt(from) !== QUOTE) break;
					cell += '"';
				}
			}
			const end = this.endOfCell(text, from);
			if (end === text.length && !isLast) return OPEN;
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
			// CR LF is one line break, also where a piece ends in between.
			if (at === text.length && !isLast) return OPEN;
			return text.charCodeAt(at) === LF ? at + 1 : at;
		}
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

/** A row without a proper end; `row` counts from 1, blank rows too. */
export class UnreadableRow extends Error {
	constructor(
		readonly row: number,
		readonly isQuoted: boolean,
	) {
		super(`${isQuoted ? 'A quote' : 'The text'} of row ${row} has no end`);
	}
}

/** Characters: what is longer is no row, but a quote that nobody closed, or no table at all. */
export const LONGEST_ROW = 1_000_000;

const OPEN = -1;
const NO_DELIMITER = -1;
const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
const BREAK = /[\r\n]/;

/** What spreadsheet programs put between cells; the first where the header can't be read. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Looked at to find the delimiter out. */
const SAMPLE_ROWS = 100;

/** What Excel takes, and then does not show, as the first row. */
const SEP_ROW = /^"?sep=(.)"?[\t ;,]*(?:\r\n|\n|\r)/i;

/** How a table is written: what is between cells (nothing in a table with one column), and the characters in front of its first row. */
export type Layout = { delimiter: string; skip: number };

/**
 * @param head the beginning of the text
 * @param isWhole whether that is all
 * @param delimiter where it is known
 */
export function layoutOf(head: string, isWhole: boolean, delimiter = ''): Layout {
	const [sepRow = '', named] = SEP_ROW.exec(head) ?? [];
	const text = head.slice(sepRow.length);
	return { delimiter: delimiter || named || likeliest(text, isWhole), skip: sepRow.length };
}

/**
 * The one under which most rows have as many cells as the header; of equals the one with more cells. A header that none of
 * them splits has one column, so a cell may contain any of them.
 */
function likeliest(text: string, isWhole: boolean): string {
	let best: { delimiter: string; alike: number; width: number } | undefined;
	let isOneColumn = true;
	for (const delimiter of DELIMITERS) {
		const [header = [], ...rows] = sampleOf(text, isWhole, delimiter);
		const { length: width } = header;
		isOneColumn &&= width === 1;
		if (width < 2) continue;
		const same = rows.filter((cells) => cells.length === width).length;
		const alike = rows.length === 0 ? 1 : same / rows.length;
		const isBetter =
			best === undefined || alike > best.alike || (alike === best.alike && width > best.width);
		if (isBetter) best = { delimiter, alike, width };
	}
	return best?.delimiter ?? (isOneColumn ? '' : DELIMITERS[0]);
}

function sampleOf(text: string, isWhole: boolean, delimiter: string): string[][] {
	const parser = new CsvParser(delimiter);
	try {
		const rows = parser.write(text);
		if (isWhole) rows.push(...parser.end());
		return rows.filter((cells) => !isBlankRow(cells)).slice(0, SAMPLE_ROWS);
	} catch {
		// Under another delimiter its quotes may fit.
		return [];
	}
}

export function isBlankRow(cells: readonly string[]): boolean {
	return cells[0]?.trim() === '' && cells.every((cell) => cell.trim() === '');
}
