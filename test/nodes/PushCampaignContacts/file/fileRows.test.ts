import fc from 'fast-check';
import type { Source } from '../../../../nodes/PushCampaignContacts/file/csvFile';
import { FileRows } from '../../../../nodes/PushCampaignContacts/file/fileRows';
import type { ContactRow } from '../../../../nodes/PushCampaignContacts/push/cells';
import { ItemRows, type RowSource } from '../../../../nodes/PushCampaignContacts/push/rows';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { contentOf, fileNames } from './files';

/** A file that comes in pieces that end anywhere. */
function inPieces(name: string, content: Uint8Array, cuts: number[] = []): Source {
	const places = cuts.map((cut) => cut % (content.length + 1)).sort((a, b) => a - b);
	const pieces = [0, ...places].map((from, at) => content.subarray(from, places[at]));
	return { name, open: () => pieces };
}

type Row = { row: ContactRow; name: string; unusable: string | undefined };

async function rowsOf(rows: FileRows): Promise<Row[]> {
	const found: Array<Omit<Row, 'name'>> = [];
	const indexes: number[] = [];
	await rows.each((row, index, unusable) => {
		indexes.push(index);
		found.push({ row, unusable });
	});
	expect(indexes).toEqual([...found.keys()]);
	expect(rows.count).toBe(found.length);
	return found.map((each, index) => ({ ...each, name: rows.names.one(index) }));
}

async function read(source: Source): Promise<Row[]> {
	return await rowsOf(await FileRows.open(source));
}

const ofFile = async (name: string) => await read(inPieces(name, contentOf(name)));

const ASHA = { phone: '9876543210', person_name: 'Asha' };
const RAVI = { phone: '9876543211', person_name: 'Ravi' };
const ZOYA = { phone: '9876543212', person_name: 'Zoya' };

describe('real files', () => {
	/** The rows by their number in the file. */
	const readable: Record<string, Record<number, ContactRow>> = {
		'excel-sep.csv': {
			2: { phone: '9876543210', person_name: 'Zoë Müller', city: 'Köln' },
			3: { phone: '9876543211', person_name: 'Rao; Asha', city: 'Pune' },
		},
		'excel-utf8.csv': {
			2: { 'Mobile Number': '98765 43210', Name: 'Zoë', City: 'Köln' },
			3: { 'Mobile Number': '+91 98765-43211', Name: 'आशा राव', City: 'पुणे' },
		},
		'excel-unicode-text.txt': {
			2: { phone: '9876543210', person_name: 'Asha Rao', note: 'tea, or\r\ncoffee' },
			3: { phone: '9876543211', person_name: 'ज़ोया', note: 'नमस्ते' },
		},
		'utf-16-big-endian.csv': { 2: { phone: '9876543210', person_name: 'Zoë' } },
		'windows-1252.csv': { 2: { ...ASHA, person_name: 'Renée “Ré” Dubois', price: '5 €' } },
		'old-mac.csv': { 2: ASHA, 3: RAVI },
		'mixed-line-breaks.csv': { 2: ASHA, 3: RAVI, 4: ZOYA },
		'doubled-line-breaks.csv': { 3: ASHA, 5: RAVI },
		'trailing-delimiter.csv': { 2: ASHA, 3: RAVI },
		'blank-rows.csv': { 4: { ...ASHA, city: 'Pune' }, 7: { ...RAVI, city: '' } },
		'same-headings.csv': { 2: { ...ASHA, Notes: 'a', Notes_2: 'b', Notes_3: 'c' } },
		'two-phone-columns.csv': { 2: { ...ASHA, phone_2: '9876543211' } },
		'missing-headings.csv': { 2: ASHA, 3: RAVI },
		'spaced-headings.csv': { 2: { phone: ' 9876543210 ', person_name: ' Asha ', city: 'Pune' } },
		'quotes-inside.csv': {
			2: { ...ASHA, person_name: 'Asha Ash" Rao"', size: '5" pipe' },
			3: { ...RAVI, person_name: 'Ravi "the rock" Kumar', size: `'6"'` },
		},
		'line-breaks-inside.csv': {
			2: { ...ASHA, address: '12, MG Road\r\nPune\r\n411001' },
			3: { ...RAVI, address: '\n' },
			4: { phone: '98', person_name: 'Zoya', address: 'x' },
		},
		'kept-from-rounding.csv': {
			2: { ...ASHA, phone: '="09876543210"' },
			3: { ...RAVI, phone: "'9876543211" },
			4: { ...ZOYA, phone: '9.876543212E+9' },
			5: { phone: '9.88E+09', person_name: 'Lost' },
		},
		'pipes.txt': { 2: { ...ASHA, person_name: 'Rao, Asha', city: 'Pune' } },
		'one-column.csv': { 2: { phone: '98765 43210' }, 3: { phone: '9876543211' } },
		'odd-headings.csv': { 2: { phone: '9876543210', constructor: 'a', toString: 'c', 2024: 'd' } },
		'header-only.csv': {},
	};

	test.each(Object.entries(readable))('%s', async (name, expected) => {
		const rows = await ofFile(name);
		expect(rows.map(({ row }) => row)).toEqual(Object.values(expected));
		expect(rows.map((each) => each.name)).toEqual(
			Object.keys(expected).map((number) => `row ${number}`),
		);
		expect(rows.filter(({ unusable }) => unusable !== undefined)).toEqual([]);
	});

	test('fills a row with too few cells', async () => {
		const [short, , long] = await ofFile('ragged.csv');
		expect(short).toMatchObject({ row: { ...ASHA, city: '', plan: '' }, unusable: undefined });
		expect(long?.row).toEqual({ ...ZOYA, city: 'Delhi', plan: 'pro' });
	});

	test('a row of more than a million characters is rejected', async () => {
		const source = inPieces('a.csv', Buffer.from(`phone\n${'x'.repeat(1_000_001)}`));
		await expect(read(source)).rejects.toMatchObject({
			message: 'The file "a.csv" has more than 1,000,000 characters in row 2, so nothing was sent',
			resolution: expect.stringMatching(/one line per person/),
		});
	});

	const EMPTY: [string, RegExp] = ['is empty', /first row must name the columns/];
	const NO_TEXT: [string, RegExp] = [
		"isn't text in UTF-8, UTF-16, or Windows-1252",
		/^Save it as CSV UTF-8\. Or add an Extract from File node .* set 'Contacts From' to 'Input Items'\.$/,
	];
	const openQuote = (row: number): [string, RegExp] => [
		`has a quote in row ${row} that isn't closed, so the rows after it can't be read`,
		/^Close or remove the quote/,
	];
	const unreadable: Record<string, [message: string, resolution: RegExp]> = {
		'bad-empty.csv': EMPTY,
		'bad-mark-only.csv': EMPTY,
		'bad-quote.csv': openQuote(3),
		'bad-quote-runs-on.csv': openQuote(2),
		'bad-nul.csv': NO_TEXT,
		'bad-workbook.csv': NO_TEXT,
		'bad-old-workbook.csv': NO_TEXT,
		'bad-compressed.csv': NO_TEXT,
		'bad-utf-16-without-mark.csv': NO_TEXT,
	};

	test.each(Object.entries(unreadable))('%s is rejected', async (name, [message, resolution]) => {
		const rows = ofFile(name);
		await expect(rows).rejects.toThrow(`The file "${name}" ${message}`);
		await expect(rows).rejects.toMatchObject({
			name: 'InvalidInput',
			message: expect.stringMatching(/(, so n|\. N)othing was sent$/),
			resolution: expect.stringMatching(resolution),
		});
	});

	test('tests every file of the folder', () => {
		const tried = [...Object.keys(readable), ...Object.keys(unreadable)];
		const others = ['ragged.csv'];
		expect([...tried, ...others].sort()).toEqual(fileNames);
	});

	test('reads a file the same way in any pieces', async () => {
		const attempt = async (source: Source) =>
			await read(source).catch((error: unknown) => {
				if (error instanceof InvalidInput) return error.message;
				throw error;
			});
		const whole = new Map<string, unknown>();
		for (const name of fileNames) whole.set(name, await attempt(inPieces(name, contentOf(name))));
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...fileNames),
				fc.array(fc.nat(), { maxLength: 6 }),
				async (name, cuts) => {
					expect(await attempt(inPieces(name, contentOf(name), cuts))).toEqual(whole.get(name));
				},
			),
			{ numRuns: 500 },
		);
	});
});

const tooMany = (cells: number, columns: number) =>
	`This row has ${cells} cells, but the header names ${columns} columns, so cells may be in the wrong columns. Put quotes around a cell that contains the delimiter, or remove the extra delimiters.`;
const CUT =
	'This is the last row of the file. It has fewer cells than the header and no line break at its end, so the file may be cut off. If the row is complete, add a line break after it.';
const RUN_ON =
	'A cell of this row has several lines that look like rows, so its quote may not be closed. Close or remove the quote. Nobody in this cell is called.';
const faultsOf = async (text: string | Buffer) =>
	(await read(inPieces('a.csv', Buffer.from(text)))).map(({ unusable }) => unusable);

test.each<[string, string | Buffer, Array<string | undefined>]>([
	[
		'more cells than the header',
		contentOf('ragged.csv'),
		[undefined, tooMany(6, 4), tooMany(6, 4)],
	],
	[
		'an unquoted delimiter, and a blank last cell',
		'phone,name,amount,note\n9876543210,Rao, Asha,500,\n9876543211,Ravi,500,\n',
		[tooMany(5, 4), undefined],
	],
	[
		'text beyond the last column with a name',
		'phone,name,amount,\n9876543210,Rao, Asha,500\n9876543211,Ravi,500,\n9876543212,Zoya,500\n',
		[tooMany(4, 3), undefined, undefined],
	],
	['a cut in a cell', 'phone,name,city\n9876543210,Asha,Pune\n9876543211,Ra', [undefined, CUT]],
	['a cut after a cell', 'phone,name,city\n9876543210,Asha', [CUT]],
	['a cut after a cell in quotes', 'phone,name,city\n9876543210,"Asha"', [CUT]],
	['a cut in the first of its rows', 'phone,name\n98765', [CUT]],
	['a cut in white space', 'phone,name\n9876543210\n ', [undefined]],
	['no cut, but a short row', 'phone,name\n9876543210\n', [undefined]],
	['no cut, but a short row and CR', 'phone,name\r9876543210\r', [undefined]],
	['no cut, but blank rows', 'phone,name\n9876543210\n\n\n', [undefined]],
	['no cut, but no line break', 'phone,name\n9876543210,Asha', [undefined]],
	[
		'a quote that runs into the next row',
		'phone,name,size\n9876543210,"Asha,1\n9876543211,TV 32",2\n9876543212,Ravi,3\n',
		[RUN_ON, undefined],
	],
	[
		'a quote that runs over several rows',
		'phone,name,size\n9876543210,"Asha,1\n\n9876543211,Zoya,2\n9876543212,TV 32",3\n',
		[RUN_ON],
	],
	...['Flat 2, MG Road\nPune, 411001', 'Flat 2\nCall 9876543211, or', 'Rao, Asha\n9876543211'].map(
		(cell): [string, string, undefined[]] => [
			`a cell with lines that aren't rows: ${cell}`,
			`phone,name,size\n9876543210,"${cell}",1\n`,
			[undefined],
		],
	),
])('rejects only rows that may be wrong, in a file with %s', async (_what, text, faults) => {
	expect(await faultsOf(text)).toEqual(faults);
});

describe('the encoding', () => {
	const DAMAGED =
		'Some characters of the file "a.csv" can\'t be read, so they became "\ufffd". Check the rows. For the next push, correct the file and save it as CSV UTF-8.';
	const openFile = async (content: Uint8Array) => await FileRows.open(inPieces('a.csv', content));
	const bad = Buffer.from([0xe9]);
	const UTF_16 = Buffer.from('\ufeffphone\nआशा', 'utf16le');
	const joined = (...parts: Array<string | Buffer>) =>
		Buffer.concat(parts.map((part) => Buffer.from(part)));

	test.each<[string, Uint8Array, phone: string, isDamaged: boolean]>([
		['letters, and an invalid byte', joined('phone\nZoë', bad, '\n'), 'Zoë\ufffd', true],
		['a letter after an invalid byte', joined('phone\n', bad, 'Zoë\n'), '\ufffdZoë', true],
		['a mark, and an invalid byte', joined('\ufeffphone\n', bad, '\n'), '\ufffd', true],
		['a letter that is cut off', joined('phone\nआशा').subarray(0, -1), 'आश\ufffd', true],
		['UTF-16 that is cut off', UTF_16.subarray(0, -1), 'आश\ufffd', true],
		['a letter after which no byte is damaged', joined('phone\n', 'Zoë\n'), 'Zoë', false],
		['control characters, which Windows-1252 lacks', joined('phone\nZo\x81\n'), 'Zo\x81', false],
	])('is detected from %s', async (_what, bytes, phone, isDamaged) => {
		const rows = await openFile(bytes);
		expect(await rowsOf(rows)).toMatchObject([{ row: { phone }, unusable: undefined }]);
		const hints = rows.notes.map(({ message, resolution }) => `${message}. ${resolution.onScreen}`);
		expect(hints).toEqual(isDamaged ? [DAMAGED] : []);
	});

	test.each<[string, Buffer]>([
		['Shift JIS', joined('phone\n', Buffer.from([0x83, 0x81, 0x83, 0x8b]))],
		['Mac Roman', joined('phone\n', Buffer.from([0x8e, 0x8f, 0x2c]))],
	])('stops a file with %s, which has bytes without a letter', async (_what, bytes) => {
		await expect(openFile(bytes).then(rowsOf)).rejects.toThrow(
			'The file "a.csv" isn\'t text in UTF-8, UTF-16, or Windows-1252, so nothing was sent',
		);
	});
});

test('a read error is not treated as an old encoding', async () => {
	async function* broken() {
		yield Buffer.from('phone\n');
		throw new Error('the disk is away');
	}
	const source = { name: 'a.csv', open: () => broken() };
	await expect(FileRows.open(source)).rejects.toThrow('the disk is away');
});

test.each([
	[
		'ends in the middle of a cell in quotes',
		`name;phone\n${'a,b;1\n'.repeat(9_361)}"${'c,'.repeat(1_000)}";2\n`,
		9_362,
	],
	['is all of it, without a line break at the end', 'name;phone', 0],
])('detects the delimiter if the beginning of the file %s', async (_how, text, count) => {
	const rows = await FileRows.open(inPieces('a.csv', Buffer.from(text)));
	const [found] = await rows.columns();
	expect(found?.names).toContain('phone');
	expect(await rowsOf(rows)).toHaveLength(count);
});

test.each([
	['phone,,__proto__,name.first', ['phone', 'name.first']],
	['a,a_2,a,a_2,a', ['a', 'a_2', 'a_3', 'a_2_2', 'a_4']],
	['a_3,a,a,a', ['a_3', 'a', 'a_2', 'a_4']],
])('gives unique names to the headings %s', async (header, names) => {
	const source = inPieces('a.csv', Buffer.from(`${header}\n1\n`));
	const rows = await FileRows.open(source);
	const [found] = await rows.columns();
	expect([...(found?.names ?? [])]).toEqual(names);
});

describe('short rows', () => {
	const header = (columns: number) => Array.from({ length: columns }, (_, i) => `c${i}`).join(',');
	const rowsBelow = async (columns: number, rows: number) => {
		const text = `${header(columns)}\n${'1\n'.repeat(rows)}`;
		return await FileRows.open(inPieces('a.csv', Buffer.from(text)));
	};

	test('stop the file if its header is far wider', async () => {
		const visit = jest.fn();
		await expect((await rowsBelow(20_000, 20_000)).each(visit)).rejects.toMatchObject({
			message:
				'The header of the file "a.csv" has 20,000 columns, but most rows have far fewer cells. Nothing was sent',
			resolution: expect.stringMatching(/first row.*columns that you need/),
		});
		expect(visit.mock.calls.length).toBeLessThan(100);
	});

	test.each([
		[2_000, 400],
		[11, 150_000],
	])('are filled with a header of %i columns, if there are %i', async (columns, count) => {
		expect(await rowsOf(await rowsBelow(columns, count))).toHaveLength(count);
	});
});

test('a late letter decides the encoding of the whole file', async () => {
	const long = 'a,b\n' + 'x,y\n'.repeat(60_000);
	const utf8 = await read(inPieces('a.csv', Buffer.from(`${long}é,z\n`, 'utf8')));
	const latin = await read(inPieces('b.csv', Buffer.from(`${long}é,z\n`, 'latin1')));
	expect([utf8.at(-1)?.row, latin.at(-1)?.row]).toEqual([
		{ a: 'é', b: 'z' },
		{ a: 'é', b: 'z' },
	]);
});

describe('a file that changes', () => {
	const changing = async (then: string) => {
		let content = 'phone\n1\n2\n3\n';
		const source: Source = { name: 'a.csv', open: () => [Buffer.from(content)] };
		const rows = await FileRows.open(source);
		await rowsOf(rows);
		content = then;
		return rows;
	};
	const changed = {
		message: "The file changed after its rows were checked, so the remaining rows weren't sent",
		resolution: 'Restore the file, or push only the remaining rows of the new one.',
	};

	test.each([
		['ends earlier', 'phone\n1\n2\n'],
		['has its rows elsewhere', 'phone\n1\n\n2\n3\n'],
		['has a quote without an end', 'phone\n1\n2\n"3'],
		['has a last row that ends early', 'phone\n1\n2\n'],
		['has another header', 'mobile\n1\n2\n3\n'],
		['has a NUL character', 'phone\n1\n2\n3\0'],
	])('and %s returns no row', async (_how, then) => {
		await expect((await changing(then)).pick([0, 1, 2], () => {})).rejects.toMatchObject(changed);
	});

	test('still returns the file and row number of its rows', async () => {
		const rows = await changing('phone\n1\n\n2\n3\n');
		expect(await rows.output([0, 1, 2])).toEqual([
			{ phone: '1', source_file: 'a.csv', source_row: 2 },
			{ source_file: 'a.csv', source_row: 3 },
			{ source_file: 'a.csv', source_row: 4 },
		]);
	});
});

test('continues reading for later rows, and closes the file at the end', async () => {
	let open = 0;
	let readings = 0;
	async function* opened() {
		open++;
		readings++;
		try {
			for (let piece = 0; piece < 100; piece++) yield Buffer.from(piece === 0 ? 'a,b\n' : '1,2\n');
		} finally {
			open--;
		}
	}
	const source: Source = { name: 'a.csv', open: () => opened() };
	const rows = await FileRows.open(source);
	await rows.each(() => undefined);
	expect(open).toBe(0);
	const before = readings;
	await rows.pick([1], () => {});
	await rows.pick([1, 2], () => {});
	expect([open, readings - before]).toEqual([1, 1]);
	await rows.pick([0], () => {});
	expect([open, readings - before]).toEqual([1, 2]);
	await rows.close();
	expect(open).toBe(0);
});

/** How many rows are visited at most before other work of the process can continue, if a row takes this long. */
async function maxRowsTogether(
	msPerRow: number,
	read: (visit: () => void) => Promise<void>,
): Promise<number> {
	let [rows, max, work] = [0, 0, 0];
	const time = jest.spyOn(performance, 'now').mockImplementation(() => work);
	let turn: NodeJS.Immediate;
	const onTurn = () => {
		rows = 0;
		turn = setImmediate(onTurn);
	};
	turn = setImmediate(onTurn);
	await read(() => {
		max = Math.max(max, ++rows);
		work += msPerRow;
	});
	clearImmediate(turn);
	time.mockRestore();
	return max;
}

test.each([
	['a file', 0.1, 150],
	// Such as those with thousands of cells.
	['a file', 5, 3],
	['items', 0.1, 150],
])('pauses after 10 ms of work while it reads %s, %p ms per row', async (what, msPerRow, most) => {
	const count = 400;
	const file = inPieces('a.csv', Buffer.from('phone\n'.repeat(count + 1)));
	const rows: RowSource =
		what === 'a file'
			? await FileRows.open(file)
			: new ItemRows(Array.from({ length: count }, () => ({ json: {} })));
	const together = async (read: (visit: () => void) => Promise<void>) =>
		await maxRowsTogether(msPerRow, read);
	expect(await together(async (visit) => await rows.each(visit))).toBeLessThanOrEqual(most);
	const all = [...Array(count).keys()];
	expect(await together(async (visit) => await rows.pick(all, visit))).toBeLessThanOrEqual(most);
});
