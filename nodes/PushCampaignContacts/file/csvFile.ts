import isEqual from 'lodash/isEqual';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/modelAdvice';
import { quoted } from '../../shared/values';
import { changedFile } from '../push/prepareRows';
import { CsvParser, isBlankRow, layoutOf, LONGEST_ROW, UnreadableRow, type Layout } from './csv';
import {
	asWritten,
	encodingOf,
	headOf,
	NoEncoding,
	textOf,
	UNREADABLE,
	WrongEncoding,
	type Encoding,
	type OpenFile,
} from './encoding';
import { binaryKind, writtenKind, type OtherKind } from './otherKinds';

/** A file that should be CSV. */
export type Source = {
	/** What a person calls it. */
	name: string;
	open: OpenFile;
};

/** What a person sets; empty where it is to be found out. */
export type Writing = { delimiter: string; encoding: string };

/** `number` as a spreadsheet program shows it: from 1, blank rows and the header too. */
export type TableRow = {
	number: number;
	cells: string[];
	/** Of the last row alone, if no line break ends it: the file may have been cut off in it. */
	endsFile?: boolean;
	/** Whether a byte of the row wasn't text. */
	isUnreadable?: boolean;
};

/** A file as a table, which is read anew each time its rows are asked for. */
export class CsvFile {
	private constructor(
		private readonly source: Source,
		readonly encoding: Encoding,
		private readonly layout: Layout,
		/** As written, without white space around. */
		readonly header: readonly string[],
	) {}

	/** @throws InvalidInput where it is no CSV file */
	static async open(source: Source, writing: Writing): Promise<CsvFile> {
		try {
			const head = await headOf(source.open);
			const encoding = await encodingOf(source.open, head, writing.encoding);
			const { text, isWhole } = await beginningOf(source.open, encoding);
			const kind = binaryKind(head) ?? writtenKind(text);
			if (kind !== undefined) throw anotherKind(source, kind);
			const layout = layoutOf(text, isWhole, writing.delimiter);
			const file = new CsvFile(source, encoding, layout, []);
			for await (const [first] of file.records()) {
				if (first === undefined) continue;
				const header = headingsOf(first);
				if (first.isUnreadable === true) throw unreadableHeader(source);
				return new CsvFile(source, encoding, layout, header);
			}
		} catch (error) {
			throw explainedFor(source, error);
		}
		throw emptyFile(source);
	}

	get name(): string {
		return this.source.name;
	}

	get delimiter(): string {
		return this.layout.delimiter;
	}

	/** How it is read: read in another way, it may have other rows. */
	get reading(): readonly (string | number)[] {
		return [this.encoding.name, this.layout.delimiter, this.layout.skip];
	}

	/**
	 * The rows below the header that are not blank, some at a time.
	 *
	 * @throws InvalidInput where one cannot be read, or the header is another one now
	 */
	async *rows(): AsyncGenerator<TableRow[]> {
		let isHeader = true;
		try {
			for await (const rows of this.records()) {
				const [first] = rows;
				if (!isHeader || first === undefined) {
					yield rows;
					continue;
				}
				if (!isEqual(headingsOf(first), this.header)) throw changedFile();
				isHeader = false;
				yield rows.slice(1);
			}
		} catch (error) {
			throw explainedFor(this.source, error);
		}
		if (isHeader) throw changedFile();
	}

	private async *records(): AsyncGenerator<TableRow[]> {
		const parser = new CsvParser(this.layout.delimiter);
		const isDamaged = this.encoding.fit === 'damaged';
		let { skip } = this.layout;
		let number = 0;
		const kept = (records: string[][]): TableRow[] => {
			const rows: TableRow[] = [];
			for (const cells of records) {
				number++;
				if (!isBlankRow(cells)) rows.push(isDamaged ? readable(number, cells) : { number, cells });
			}
			return rows;
		};
		for await (const piece of textOf(this.source.open, this.encoding)) {
			if (piece.includes('\0')) throw withNul(this.source);
			yield kept(parser.write(skip === 0 ? piece : piece.slice(skip)));
			skip = Math.max(0, skip - piece.length);
		}
		const rows = kept(parser.end());
		const last = rows.at(-1);
		if (parser.endsInRow && last?.number === number) last.endsFile = true;
		yield rows;
	}
}

function headingsOf({ cells }: TableRow): string[] {
	return cells.map((name) => name.trim());
}

/** A row of a damaged file. */
function readable(number: number, cells: readonly string[]): TableRow {
	const isUnreadable = cells.some((cell) => cell.includes(UNREADABLE));
	return { number, cells: cells.map(asWritten), isUnreadable };
}

const BEGINNING = 65_536;

/** Enough of the text to see how it is written. */
async function beginningOf(
	open: OpenFile,
	encoding: Encoding,
): Promise<{ text: string; isWhole: boolean }> {
	let text = '';
	for await (const piece of textOf(open, encoding)) {
		text += piece;
		if (text.length >= BEGINNING) return { text, isWhole: false };
	}
	return { text, isWhole: true };
}

/** What is wrong with the file, for a person. */
function explainedFor({ name }: Source, error: unknown): unknown {
	const file = `The file ${quoted(name)}`;
	if (error instanceof WrongEncoding) {
		const { name: encoding, fit } = error.encoding;
		return new InvalidInput(
			`${file} holds bytes that are no text in ${encoding.toUpperCase()}, so nothing was sent`,
			onScreenOnly(
				fit === 'set'
					? 'Set Encoding to Automatic in Options, or save the file again as CSV UTF-8.'
					: 'Save the file again as CSV UTF-8.',
			),
		);
	}
	if (error instanceof NoEncoding) {
		return new InvalidInput(
			`${file} is neither UTF-8 nor Windows-1252, so nothing was sent`,
			SAVE_OR_SET,
		);
	}
	if (!(error instanceof UnreadableRow)) return error;
	const { row, isQuoted } = error;
	if (isQuoted) {
		return new InvalidInput(
			`${file} has a quote in row ${row} that is not closed where its cell ends, so it is not clear which rows come after it, and nothing was sent`,
			onScreenOnly(
				'Close the quote, or take it out. A quote inside a cell in quotes is written twice. If Delimiter is set in Options, look whether it is the one of the file.',
			),
		);
	}
	return new InvalidInput(
		`${file} has more than ${LONGEST_ROW.toLocaleString('en-US')} characters in row ${row}, so nothing was sent`,
		onScreenOnly(
			'A list in CSV has a line for each person. Save it again from the program that it comes from.',
		),
	);
}

const SAVE_OR_SET = onScreenOnly(
	"Save the file again as CSV UTF-8, or set 'Encoding' in 'Options'.",
);

function unreadableHeader({ name }: Source): InvalidInput {
	return new InvalidInput(
		`The header of the file ${quoted(name)} has a character that can't be read, so nothing was sent`,
		SAVE_OR_SET,
	);
}

function anotherKind({ name }: Source, { what, resolution }: OtherKind): InvalidInput {
	return new InvalidInput(
		`The file ${quoted(name)} is ${what}, not CSV, so nothing was sent`,
		onScreenOnly(resolution),
	);
}

function emptyFile({ name }: Source): InvalidInput {
	return new InvalidInput(
		`The file ${quoted(name)} is empty, so nothing was sent`,
		onScreenOnly(
			'Its first row must hold the names of the columns. Look whether the export or the upload was complete.',
		),
	);
}

function withNul({ name }: Source): InvalidInput {
	return new InvalidInput(
		`The file ${quoted(name)} holds NUL characters, which no text has, so nothing was sent`,
		onScreenOnly('Save it again as CSV UTF-8. If Encoding is set in Options, set it to Automatic.'),
	);
}
