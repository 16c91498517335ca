import fc from 'fast-check';
import Papa from 'papaparse';
import {
	CsvParser,
	DELIMITERS,
	layoutOf,
	UnreadableRow,
} from '../../../../nodes/PushCampaignContacts/file/csv';
import { anyCharacter } from '../../../fuzz/anyCharacter';

/** The rows of a text in these pieces. */
function read(pieces: string[], delimiter = ','): string[][] {
	const parser = new CsvParser(delimiter);
	return [...pieces.flatMap((piece) => parser.write(piece)), ...parser.end()];
}

/** The rows, or the number of a row that can't be read. */
function readOrStop(pieces: string[]): string[][] | number {
	try {
		return read(pieces);
	} catch (error) {
		if (error instanceof UnreadableRow) return error.row;
		throw error;
	}
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });

/** The text in pieces that end anywhere. */
function cut(text: string, at: number[]): string[] {
	const places = at.map((place) => place % (text.length + 1)).sort((a, b) => a - b);
	return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
}

const newlines = fc.constantFrom('\n', '\r', '\r\n');
/** Cells with characters that need quotes, and any other text. */
const cell = fc.oneof(
	fc.constantFrom('', ' ', '"', '""', ',', ';', '\t', '|', '\n', '\r', '\r\n', '9876543210'),
	fc.string({ unit: anyCharacter, maxLength: 8 }),
	fc.array(fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' '), { maxLength: 8 }).map(String),
);
const written = fc.record({
	rows: fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 8 }),
	delimiter: fc.constantFrom(...DELIMITERS, '^', ' '),
	newline: newlines,
	quotes: fc.boolean(),
	isEnded: fc.boolean(),
});

test('reads any table, in any pieces', () => {
	fc.assert(
		fc.property(written, cuts, ({ rows, isEnded, ...format }, places) => {
			const text = Papa.unparse(rows, format);
			const ended = isEnded && rows.length > 0 ? text + format.newline : text;
			expect(read(cut(ended, places), format.delimiter)).toEqual(rows);
		}),
		{ numRuns: 1_000 },
	);
});

/** Texts with quotes, backslashes, and delimiters in any order, most of them invalid. */
const parts = ['a', 'b', ' ', '"', '"', ',', ',', '\n', '\n'];
const scrawl = fc.oneof(
	fc.array(fc.constantFrom(...parts), { maxLength: 40 }),
	fc.array(fc.constantFrom(...parts, '\\', '\\"', '\t"'), { maxLength: 40 }),
);

test('reads any text the same way in any pieces, and like Papa Parse if it is valid', () => {
	let compared = 0;
	fc.assert(
		fc.property(scrawl, newlines, cuts, (characters, newline, places) => {
			const text = characters.join('').replaceAll('\n', newline);
			const found = readOrStop([text]);
			expect(readOrStop(cut(text, places))).toEqual(found);
			const { data, errors } = Papa.parse<string[]>(text, { delimiter: ',', newline });
			// Papa Parse treats a line break at the end as the beginning of a row.
			if (text === '' || text.endsWith(newline)) data.pop();
			// It skips no spaces before a quote, and reads no backslashes.
			if (errors.length > 0 || /(^|[,\r\n])[ \t]+"|\\/.test(text)) return;
			compared++;
			expect(found).toEqual(data);
		}),
		{ numRuns: 1_000 },
	);
	expect(compared).toBeGreaterThan(70);
});

const oneColumn = 'phone\n98765,43210\n9876543210;1\n';
test.each<[string, string, string]>([
	['commas', 'name,phone\nAsha,1', ','],
	['semicolons with decimal commas', 'a;b;c\n1,5;2,5;3\n', ';'],
	['tabs with commas in the header', 'Name, first\tPhone\nAsha\t1\n', '\t'],
	['pipes', 'name|phone\nAsha|1\n', '|'],
	['a header alone', 'name;phone;city', ';'],
	['delimiters inside quotes', '"a,b,c";phone\n"Rao, Asha";1\n', ';'],
	['a delimiter at the end of the header alone', 'a;b;\n1;2\n', ';'],
	['two that fit each row: the one with more cells', 'a,b;c;d\n1,2;3;4\n', ';'],
	['two that fit each row, with as many cells: the first', 'a,b;c\n1,2;3\n', ','],
	['two in a header alone: the one with more cells', 'a,b;c;d', ';'],
	['one of more cells in a header that no row has', 'a,b;c;d\n1,2\n3,4\n', ','],
	['one of more cells in a header that few rows have', 'a;b,c,d\n1;2\n3;4,5,6\n', ';'],
	['blank rows on top', '\n \nname;phone\n', ';'],
	['one column, with delimiters in its cells', oneColumn, ''],
	['quotes that only fit one of them', 'a;"b,\nc"\n1;2\n', ';'],
	['a header, if a quote is not closed', '\n a\tb\n1\t"2\n3\t4\n', '\t'],
	['a header, if a quote runs into the next row', 'a|b\n"1|2\n"3"|4\n', '|'],
	['nothing', '', ','],
	['commas in names, and phone numbers', 'Last, First;phone\nRao, A;9876543210\n', ';'],
	['semicolons in notes, and phone numbers', 'phone,a; b\n9876543210,a; b\n', ','],
	['names of two words, and phone numbers', 'phone;Name, x\n+919876543210;Rao, Asha\n', ';'],
])('detects the delimiter from %s', (_what, head, delimiter) => {
	expect(layoutOf(head, true)).toEqual({ delimiter, skip: 0 });
});

test.each(['name;phone\nAsha;1\nRavi, ', 'name;phone\nAsha;1\n"Ravi, '])(
	'detects the delimiter from a beginning that ends in the middle of a row: %j',
	(head) => {
		expect(layoutOf(head, false).delimiter).toBe(';');
	},
);

test.each([
	['sep=;\nname,phone;x\n', { delimiter: ';', skip: 6 }],
	['SEP=\t\r\nname\tphone', { delimiter: '\t', skip: 7 }],
	['"sep=|"\rname|phone', { delimiter: '|', skip: 8 }],
])('%j names the delimiter', (head, layout) => {
	expect(layoutOf(head, true)).toEqual(layout);
});
