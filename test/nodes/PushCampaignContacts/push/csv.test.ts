import fc from 'fast-check';
import range from 'lodash/range';
import Papa from 'papaparse';
import { rowsOfFiles } from '../../../../nodes/PushCampaignContacts/push/csv';
import { anyCharacter } from '../../../fuzz/anyCharacter';

/** The columns of a file, and the cells of its rows. */
async function read(text: string) {
	const open = () => Buffer.from(text);
	const { rows, tables } = await rowsOfFiles([{ label: 'a file', item: 0, open }]);
	return {
		names: [...(tables[0]?.names ?? [])],
		cells: rows.map(({ json }) => Object.values(json)),
	};
}

/** Cells with characters that need quotes, and any other text. */
const cell = fc.oneof(
	fc.constantFrom('', ' ', '"', '""', ',', ';', '\t', '|', '\n', '\r', '\r\n', '9876543210'),
	fc.string({ unit: anyCharacter, maxLength: 8 }),
	fc.array(fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' '), { maxLength: 8 }).map(String),
);
const WIDTH = 3;
const NAMES = range(WIDTH).map((at) => `c${at}`);
/** The first cell isn't empty, so that no row is blank. */
const row = fc
	.array(cell, { minLength: WIDTH - 1, maxLength: WIDTH - 1 })
	.map((cells) => ['a', ...cells]);
const written = fc.record({
	rows: fc.array(row, { minLength: 1, maxLength: 8 }),
	delimiter: fc.constantFrom(',', ';', '\t', '|'),
	newline: fc.constantFrom('\n', '\r', '\r\n'),
	quotes: fc.boolean(),
	isEnded: fc.boolean(),
});

test('reads any table', async () => {
	await fc.assert(
		fc.asyncProperty(written, async ({ rows, isEnded, ...format }) => {
			const { newline } = format;
			const text = Papa.unparse(rows, format);
			const file = NAMES.join(format.delimiter) + newline + text + (isEnded ? newline : '');
			expect(await read(file)).toEqual({ names: NAMES, cells: rows });
		}),
		{ numRuns: 500 },
	);
});

test.each<[string, text: string, names: string[]]>([
	['commas', 'name,phone\nAsha,1', ['name', 'phone']],
	['semicolons with decimal commas', 'a;b\n1,5;2,5\n', ['a', 'b']],
	['tabs with commas in the header', 'Name, first\tPhone\nAsha\t1\n', ['Name, first', 'Phone']],
	['pipes', 'name|phone\nAsha|1\n', ['name', 'phone']],
	['a header alone', 'name;phone;city', ['name', 'phone', 'city']],
	['delimiters inside quotes', '"a,b,c";phone\n"Rao, Asha";1\n', ['a,b,c', 'phone']],
	['two that fit each row: the one with more cells', 'a,b;c;d\n1,2;3;4\n', ['a,b', 'c', 'd']],
	['blank rows on top', '\n \nname;phone\n', ['name', 'phone']],
	['one column', 'phone\n9876543210\n', ['phone']],
	['a row that names it, as of Excel', 'sep=;\nname,phone;x\n', ['name,phone', 'x']],
	['such a row in capitals', 'SEP=\t\r\nname\tphone', ['name', 'phone']],
	['such a row in quotes', '"sep=^"\rname^phone', ['name', 'phone']],
])('detects the delimiter from %s', async (_what, text, names) => {
	expect((await read(text)).names).toEqual(names);
});

test('a cell in quotes ends with its quote, and text after it belongs to the cell', async () => {
	const { cells } = await read('a,b\n"Asha "Ash" Rao", "x" \n5" pipe,"y"\n');
	expect(cells).toEqual([
		['Asha Ash" Rao"', 'x'],
		['5" pipe', 'y'],
	]);
});
