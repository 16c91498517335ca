import fc from 'fast-check';
import Papa from 'papaparse';
import {
	CsvParser,
	DELIMITERS,
	MAX_ROW_CHARACTERS,
	layoutOf,
	UnreadableRow,
} from '../../../../nodes/PushCampaignContacts/file/csv';

/** The rows of a text in these pieces. */
function read(pieces: string[], delimiter = ','): string[][] {
	const parser = new CsvParser(delimiter);
	return [...pieces.flatMap((piece) => parser.write(piece)), ...parser.end()];
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });

/** The text in pieces that end anywhere. */
function cut(text: string, at: number[]): string[] {
	const places = at.map((place) => place % (text.length + 1)).sort((a, b) => a - b);
	return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
}

/** Cells with characters that need quotes, and any other text. */
const cell = fc.oneof(
	fc.constantFrom('', ' ', '"', '""', ',', ';', '\t', '|', '\n', '\r', '\r\n', '9876543210'),
	fc.string({ unit: 'binary', maxLength: 8 }),
	fc.array(fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' '), { maxLength: 8 }).map(String),
);
const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 8 });
const delimiters = fc.constantFrom(...DELIMITERS, '^', ' ');
const newlines = fc.constantFrom('\n', '\r', '\r\n');

test('reads any table, in any pieces', () => {
	fc.assert(
		fc.property(
			table,
			delimiters,
			newlines,
			fc.boolean(),
			fc.boolean(),
			cuts,
			(rows, delimiter, newline, quotes, isEnded, places) => {
				const text = Papa.unparse(rows, { delimiter, newline, quotes });
				const ended = isEnded && rows.length > 0 ? text + newline : text;
				expect(read(cut(ended, places), delimiter)).toEqual(rows);
			},
		),
		{ numRuns: 1_000 },
	);
});

/** Texts with quotes and delimiters in any order, most of them invalid. */
const scrawl = fc
	.array(fc.constantFrom('a', 'b', ' ', '"', '"', ',', ',', '\n', '\n'), { maxLength: 40 })
	.map((parts) => parts.join(''));

test('reads valid files like Papa Parse', () => {
	let compared = 0;
	fc.assert(
		fc.property(scrawl, newlines, cuts, (text, newline, places) => {
			const written = text.replaceAll('\n', newline);
			const { data, errors } = Papa.parse<string[]>(written, { delimiter: ',', newline });
			// Papa Parse treats a line break at the end as the beginning of a row.
			if (written === '' || written.endsWith(newline)) data.pop();
			// It doesn't skip spaces before a quote.
			if (errors.length > 0 || /(^|[,\n]) +"/.test(text)) return;
			compared++;
			expect(read(cut(written, places))).toEqual(data);
		}),
		{ numRuns: 2_000 },
	);
	expect(compared).toBeGreaterThan(200);
});

const outcome = (pieces: string[]) => {
	try {
		return read(pieces);
	} catch (error) {
		if (error instanceof UnreadableRow) return error.row;
		throw error;
	}
};

const withBackslashes = fc
	.array(fc.oneof(scrawl, fc.constantFrom('\\', '\\"', '\t"')), { maxLength: 8 })
	.map((parts) => parts.join(''));

test('reads any text the same way in any pieces', () => {
	fc.assert(
		fc.property(withBackslashes, newlines, cuts, (text, newline, places) => {
			const written = text.replaceAll('\n', newline);
			expect(outcome(cut(written, places))).toEqual(outcome([written]));
		}),
		{ numRuns: 2_000 },
	);
});

test.each<[string, string, string[][]]>([
	['line breaks of three kinds', 'a,b\nc,d\r\ne,f\rg,h', [['a', 'b'], ['c', 'd'], ['e', 'f'], ['g', 'h']]], // prettier-ignore
	['a quote in the middle', '5" pipe,b"c"', [['5" pipe', 'b"c"']]],
	['quotes that nobody doubled', '"Asha "Ash" Rao",1', [['Asha Ash" Rao"', '1']]],
	['white space around quotes', ' "a",b\n"c" ,d', [['a', 'b'], ['c', 'd']]], // prettier-ignore
	['a space before a quoted cell', '1, "Rao, Asha"\n2,\t"a\n""b"""', [['1', 'Rao, Asha'], ['2', 'a\n"b"']]], // prettier-ignore
	['a space before a quote in the middle', '1, 5" pipe', [['1', ' 5" pipe']]],
	['quotes with backslashes', '"Asha \\"Ash\\" Rao",1\n"\\"Ash\\"",2', [['Asha "Ash" Rao', '1'], ['"Ash"', '2']]], // prettier-ignore
	['a quote with a backslash at the end of a cell', '"5\\"",1\n"6\\""\r\n"7\\""', [['5"', '1'], ['6"'], ['7"']]], // prettier-ignore
	['a backslash before a quote that is doubled', '"5\\""",1', [['5\\"', '1']]],
	['a delimiter after a quote with a backslash', '"say \\"hi\\", ok",1', [['say "hi", ok', '1']]],
	['backslashes that are no escape', '"C:\\","a\\b",\\"x', [['C:\\', 'a\\b', '\\"x']]],
	['a backslash that is escaped itself', '"a \\\\",b', [['a \\\\', 'b']]],
	['white space after a cell of two lines', '"a\nb" ,c', [['a\nb', 'c']]],
	['a quoted cell that is empty', '"",""', [['', '']]],
	['a delimiter at the end', 'a,\n,', [['a', ''], ['', '']]], // prettier-ignore
	['blank rows', 'a\n\n \n', [['a'], [''], [' ']]],
	['NUL characters', 'a\0,b', [['a\0', 'b']]],
])('%s', (_what, text, rows) => {
	expect(read([text])).toEqual(rows);
});

test.each<[string, string, number]>([
	['a quote that nobody closed', 'a,b\nc,"d\ne,f\n', 2],
	['one that runs on into the next quote', 'a,b\n\n"c,d\n"e",f\ng,h', 3],
])('%s stops at its row', (_what, text, row) => {
	expect(() => read([text])).toThrow(new UnreadableRow(row, true));
});

test.each<[string, string, boolean]>([
	['a quote that nobody closes for a million characters', '"', true],
	['a million characters without a line break', 'x', false],
])('%s: stops reading', (_what, first, isQuoted) => {
	const parser = new CsvParser(',');
	parser.write('a,b\n');
	parser.write(first + 'x'.repeat(MAX_ROW_CHARACTERS - 1));
	const last = () => parser.write('x');
	expect(last).toThrow(UnreadableRow);
	expect(last).toThrow(new UnreadableRow(2, isQuoted));
});

describe('detects the delimiter', () => {
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
		['one column', 'phone\n98765 43210\n', ''],
		['one column, with delimiters in its cells', 'phone\n98765,43210\n9876543210;1\n', ''],
		['quotes that only fit one of them', 'a;"b,\nc"\n1;2\n', ';'],
		['nothing', '', ','],
		[
			'commas in names: the one with phone numbers',
			'Name (Last, First);phone\nRao, Asha;9876543210\nRao, Ravi;98765 43211\n',
			';',
		],
		[
			'semicolons in notes: the one with phone numbers',
			'phone,note; place\n9876543210,a; b\n',
			',',
		],
		[
			'commas in names of two words: the one with phone numbers',
			'phone;Name, First\n+919876543210;Rao, Asha\n',
			';',
		],
	])('%s', (_what, head, delimiter) => {
		expect(layoutOf(head, true)).toEqual({ delimiter, skip: 0 });
	});

	test.each(['name;phone\nAsha;1\nRavi, ', 'name;phone\nAsha;1\n"Ravi, '])(
		'from a beginning that ends in the middle of a row: %j',
		(head) => {
			expect(layoutOf(head, false).delimiter).toBe(';');
		},
	);

	test.each([
		['sep=;\nname,phone;x\n', { delimiter: ';', skip: 6 }],
		['SEP=\t\r\nname\tphone', { delimiter: '\t', skip: 7 }],
		['"sep=|"\rname|phone', { delimiter: '|', skip: 8 }],
	])('%j names it', (head, layout) => {
		expect(layoutOf(head, true)).toEqual(layout);
	});
});
