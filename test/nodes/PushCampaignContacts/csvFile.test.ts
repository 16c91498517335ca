/** What the service receives of a CSV file, or why nothing is sent. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Container } from '@n8n/di';
import chunk from 'lodash/chunk';
import range from 'lodash/range';
import sortBy from 'lodash/sortBy';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject, INodeExecutionData, IWorkflowSettings } from 'n8n-workflow';
import { isJsonObject, type JsonObject } from '../../../nodes/core/values/json';
import { PUSH_LIMITS } from '../../../nodes/PushCampaignContacts/push/rows';
import {
	engineHarness,
	engineTool,
	newExecutionData,
	oneNodeWorkflow,
	output,
	retryFailed,
	service,
} from '../../engine';
import {
	accepted,
	ARCHIVED,
	BROKEN,
	contactsOf,
	fileItem,
	goOn,
	inTwos,
	ok,
	OUTPUTS,
	outputsOf,
	PATH,
	phone,
	phonesOf,
	pushNode,
	remembering,
	respondWith,
	runPush,
	sizes,
	type NodeParameters,
	phones,
	scripted,
} from './pushHarness';

engineHarness();
afterEach(() => jest.restoreAllMocks());

const csv = (over: NodeParameters = {}): NodeParameters => ({ contactsFrom: 'csv', ...over });
const byRow = { options: { output: 'rows' } };
const lines = (...rows: string[]) => `${rows.join('\n')}\n`;
const folder = join(__dirname, 'files');
const contentOf = (name: string) => readFileSync(join(folder, name));

/** Pushes a file to a service that accepts everything. Returns the contacts, and then the reasons of the other rows. */
async function pushFile(content: string | Buffer, name = 'a.csv') {
	const bodies: JsonObject[] = [];
	const sent = service().post(PATH, remembering(bodies)).optionally();
	sent.reply(200, () => accepted(phonesOf(bodies[0]).length));
	const file = fileItem(name, content, 'List_0');
	const { error, hints, pushed, rejected, skipped } = await runPush([file], csv(byRow));
	const contacts = contactsOf(bodies[0]);
	expect(pushed).toHaveLength(contacts.length);
	const reasons = [...rejected, ...skipped].map(({ json }) => json.rejection_reason);
	return { error, hints, rows: [...contacts, ...reasons] };
}

const ASHA = { phone: '9876543210', person_name: 'Asha' };
const RAVI = { phone: '9876543211', person_name: 'Ravi' };
const ZOYA = { phone: '9876543212', person_name: 'Zoya' };
const tooMany = (row: number, cells: number, columns: number) =>
	`Row ${row} has ${cells} cells, but the header names ${columns} columns, so cells may be in the wrong columns. Put quotes around a cell that contains the delimiter, or remove the extra delimiters.`;
const cutOff = (row: number) =>
	`Row ${row} is the last row of the file. It has fewer cells than the header and no line break at its end, so the file may be cut off. If the row is complete, add a line break after it.`;
const runOn = (row: number) =>
	`A cell of row ${row} has several lines with a phone number, so its quote may not be closed. Close or remove the quote. Nobody in this cell is called.`;

/** What each row is, by its number in the file. */
type RowsOfFile = Record<number, unknown>;
/** The contacts first, and then the reasons. */
const inOrder = (rows: RowsOfFile) =>
	sortBy(Object.values(rows), (row) => !isJsonObject(row) || 'asymmetricMatch' in row);

const readable: Record<string, RowsOfFile> = {
	'quote-runs-on.csv': { 2: runOn(2), 3: ZOYA },
	'blank-rows.csv': { 4: { ...ASHA, city: 'Pune' }, 7: { ...RAVI, city: '' } },
	'comma-in-name-and-trailing-delimiter.csv': {
		2: tooMany(2, 4, 3),
		3: { ...RAVI, amount: '500' },
		4: { ...ZOYA, amount: '500' },
	},
	'comma-in-name.csv': { 2: tooMany(2, 5, 4), 3: { ...RAVI, amount: '500', note: '' } },
	'cut-off.csv': { 2: { ...ASHA, city: 'Pune' }, 3: cutOff(3) },
	'doubled-line-breaks.csv': { 3: ASHA, 5: RAVI },
	'duplicates.csv': {
		2: 'Asha Rao (row 5) has the same number and was kept. The node pushes one row per phone number.',
		4: RAVI,
		5: { phone: '+919876543210', person_name: 'Asha Rao' },
	},
	'excel-sep.csv': {
		2: { phone: '9876543210', person_name: 'Zoë Müller', city: 'Köln' },
		3: { phone: '9876543211', person_name: 'Rao; Asha', city: 'Pune' },
	},
	'excel-unicode-text.txt': {
		2: { phone: '9876543210', person_name: 'Asha Rao', note: 'tea, or\r\ncoffee' },
		3: { phone: '9876543211', person_name: 'ज़ोया', note: 'नमस्ते' },
	},
	'excel-utf8.csv': {
		2: { phone: '9876543210', person_name: 'Zoë', City: 'Köln' },
		3: { phone: '+919876543211', person_name: 'आशा राव', City: 'पुणे' },
	},
	'header-only.csv': {},
	'kept-from-rounding.csv': {
		2: ASHA,
		3: RAVI,
		4: { phone: '9876543212', person_name: 'Zoya' },
		5: expect.stringMatching(/^"9\.88E\+09" may have lost its last digits/),
	},
	'line-breaks-inside.csv': {
		2: { ...ASHA, address: '12, MG Road\r\nPune\r\n411001' },
		3: { ...RAVI, address: '\n' },
		4: expect.stringMatching(/^"98" has 2 digits/),
	},
	'lines-like-rows.csv': {
		2: { phone: '9876543210', note: 'Flat 2, MG Road\nPune, 411001', size: '1' },
		3: { phone: '9876543211', note: 'Flat 2\nCall 9876543219, or', size: '1' },
		4: runOn(4),
	},
	'missing-headings.csv': { 2: ASHA, 3: RAVI },
	'mixed-line-breaks.csv': { 2: ASHA, 3: RAVI, 4: ZOYA },
	'odd-headings.csv': { 2: { phone: '9876543210', constructor: 'a', toString: 'c', 2024: 'd' } },
	'old-mac.csv': { 2: ASHA, 3: RAVI },
	'one-column.csv': { 2: { phone: '9876543210' }, 3: { phone: '9876543211' } },
	'pipes.txt': { 2: { ...ASHA, person_name: 'Rao, Asha', city: 'Pune' } },
	'quote-not-closed-for-rows.csv': { 2: runOn(2) },
	'quote-not-closed.csv': { 2: runOn(2), 3: { ...ZOYA, person_name: 'Ravi', size: '3' } },
	'quotes-inside.csv': {
		2: { ...ASHA, person_name: 'Asha Ash" Rao"', size: '5" pipe' },
		3: { ...RAVI, person_name: 'Ravi "the rock" Kumar', size: `'6"'` },
	},
	'ragged.csv': { 2: { ...ASHA, city: '', plan: '' }, 3: tooMany(3, 6, 4), 4: tooMany(4, 6, 4) },
	'same-headings.csv': { 2: { ...ASHA, Notes: 'a', Notes_3: 'b', Notes_5: 'c' } },
	'spaced-headings.csv': { 2: { ...ASHA, city: 'Pune' } },
	'spaces-around-quotes.csv': {
		2: { ...ASHA, person_name: 'Rao, Asha', a: '1', b: '' },
	},
	'trailing-delimiter.csv': { 2: ASHA, 3: RAVI },
	'utf-16-big-endian.csv': { 2: { phone: '9876543210', person_name: 'Zoë' } },
	'white-space-at-end.csv': { 2: { phone: '9876543210', city: '' } },
	'windows-1252.csv': { 2: { ...ASHA, person_name: 'Renée “Ré” Dubois', price: '5 €' } },
};

test.each(Object.entries(readable))('%s', async (name, expected) => {
	const { error, rows } = await pushFile(contentOf(name), name);
	expect(error).toBeUndefined();
	expect(rows).toEqual(inOrder(expected));
});

const NO_TEXT: [message: string, advice: RegExp] = [
	"can't be read as CSV, so nothing was sent",
	/^Save it as CSV UTF-8\. Or for an Excel workbook, add an Extract from File node .* set 'Contacts From' to 'Input Items'\.$/,
];
const EMPTY: [string, RegExp] = [
	'is empty, so nothing was sent',
	/first row must name the columns\.$/,
];
const openQuote = (row: number): [string, RegExp] => [
	`has a quote in row ${row} that isn't closed, so nothing was sent`,
	/^Close or remove the quote/,
];
const unreadable: Record<string, [message: string, advice: RegExp]> = {
	'bad-compressed.csv': NO_TEXT,
	'bad-empty.csv': EMPTY,
	'bad-nul.csv': NO_TEXT,
	'bad-old-workbook.csv': NO_TEXT,
	'bad-quote.csv': openQuote(3),
	'bad-utf-16-without-mark.csv': NO_TEXT,
	'bad-workbook.csv': NO_TEXT,
};

test.each(Object.entries(unreadable))('%s is not sent', async (name, [message, advice]) => {
	const { error } = await pushFile(contentOf(name), name);
	expect(error).toMatchObject({
		message: `The file "${name}" ${message}`,
		description: expect.stringMatching(advice),
	});
});

test('two-phone-columns.csv is not sent, because nobody knows which one is meant', async () => {
	const { error } = await pushFile(contentOf('two-phone-columns.csv'));
	expect(error).toMatchObject({
		message: 'Several columns match "phone": "phone". Nothing was sent',
		description: expect.stringMatching(/^Name only one of them "phone"/),
	});
});

test('every file of the folder is tried', () => {
	const tried = ['two-phone-columns.csv', ...Object.keys(readable), ...Object.keys(unreadable)];
	expect(tried.sort()).toEqual(readdirSync(folder).sort());
});

test.each<[string, text: string, rows: RowsOfFile]>([
	['after a cell in quotes', 'phone,name,city\n9876543210,"Asha"', { 2: cutOff(2) }],
	['in the first of its rows', 'phone,name\n98765', { 2: cutOff(2) }],
	['nowhere, but has a short row', 'phone,city\r9876543210\r', { 2: { phone: '9876543210', city: '' } }], // prettier-ignore
	['nowhere, but lacks the last line break', 'phone,person_name\n9876543210,Asha', { 2: ASHA }],
	['nowhere, but is only a header', 'name;phone', {}],
])('a file that may be cut off %s', async (_where, text, expected) => {
	const { error, rows } = await pushFile(text);
	expect(error).toBeUndefined();
	expect(rows).toEqual(inOrder(expected));
});

describe('the encoding', () => {
	const bytes = (...parts: Array<string | number>) =>
		Buffer.concat(parts.map((part) => Buffer.from(typeof part === 'number' ? [part] : part)));
	const HEAD = 'phone,person_name\n9876543210,';
	const UTF_16 = Buffer.from(`\ufeff${HEAD}आशा`, 'utf16le');
	const GUESSED =
		'The file "a.csv" was read as Windows-1252. Check letters such as é in the rows. If they\'re wrong, save the file as CSV UTF-8 for the next push.';

	test.each<[string, Buffer, name: string, hint: string | undefined]>([
		['letters', bytes(HEAD, 'Zoë\n'), 'Zoë', undefined],
		['control characters, which Windows-1252 lacks', bytes(HEAD, 'Zo\x81\n'), 'Zo\x81', undefined],
		['a letter of another encoding', bytes(HEAD, 'Zo', 0xeb, '\n'), 'Zoë', GUESSED],
		['letters, and an invalid byte', bytes(HEAD, 'Zoë', 0xe9, '\n'), 'Zoë\ufffd', undefined],
		['a letter after an invalid byte', bytes(HEAD, 0xe9, 'Zoë\n'), '\ufffdZoë', undefined],
		[
			'a mark, and an invalid byte',
			bytes(`\ufeff${HEAD}`, 'Zo', 0xe9, '\n'),
			'Zo\ufffd',
			undefined,
		],
		['a letter that is cut off', bytes(HEAD, 'आशा').subarray(0, -1), 'आश\ufffd', undefined],
		['UTF-16 that is cut off', UTF_16.subarray(0, -1), 'आश\ufffd', undefined],
	])('is detected from %s', async (_what, content, name, hint) => {
		const { rows, hints } = await pushFile(content);
		expect(rows).toEqual([{ phone: '9876543210', person_name: name }]);
		expect(hints.slice(1)).toEqual(hint === undefined ? [] : [hint]);
	});

	test.each([
		['Shift JIS', bytes(HEAD, 0x83, 0x81, 0x83, 0x8b, '\n')],
		['Mac Roman', bytes(HEAD, 0x8e, 0x8f, 0x2c, '\n')],
	])('stops a file in %s, which has bytes without a letter', async (_what, content) => {
		const { error } = await pushFile(content);
		expect(error?.message).toBe(`The file "a.csv" ${NO_TEXT[0]}`);
	});
});

describe('several files', () => {
	const leads = fileItem(
		'leads.csv',
		lines('person_name,Phone', `Asha,${phone(0)}`, '', `Ravi,${phone(1)}`, 'Zoya,call me'),
		'List_2',
	);
	const none = fileItem('none.csv', lines('Phone,person_name'), 'List_3');
	const others = fileItem(
		'export.txt',
		lines('Phone;City;person_name', `${phone(2)};Pune;`, `+91 ${phone(0)};Goa;Asha Rao`),
		'List_10',
	);
	const inOneItem = [{ json: {}, binary: { ...leads.binary, ...none.binary, ...others.binary } }];

	test.each<[string, INodeExecutionData[], items: number[]]>([
		['of one item', inOneItem, [0, 0]],
		['of several items', [leads, none, others], [0, 2]],
	])('%s are one push, each with its own other columns', async (_which, input, [first, second]) => {
		const bodies = respondWith(ok(2), ok(1));
		const options = { output: 'rows', ...inTwos.options };
		const { pushed, rejected, skipped, hints } = await runPush(input, csv({ options }));
		expect(bodies.flatMap(contactsOf)).toEqual([
			{ phone: phone(1), person_name: 'Ravi' },
			{ phone: phone(2), City: 'Pune' },
			{ phone: `+91${phone(0)}`, City: 'Goa', person_name: 'Asha Rao' },
		]);
		const places = (rows: INodeExecutionData[]) =>
			rows.map(({ json, pairedItem }) => [json.Phone, pairedItem]);
		expect(places(pushed)).toEqual([
			[phone(1), { item: first }],
			[phone(2), { item: second }],
			[`+91 ${phone(0)}`, { item: second }],
		]);
		expect(places(rejected)).toEqual([['call me', { item: first }]]);
		expect(places(skipped)).toEqual([[phone(0), { item: first }]]);
		expect(skipped[0]?.json.rejection_reason).toMatch(
			/^Asha Rao \(row 3 of "export\.txt"\) has the same number and was kept/,
		);
		expect(pushed[1]?.json).toMatchObject({ Phone: phone(2), City: 'Pune' });
		expect(hints).toContain('Columns used: "Phone" as phone.');
	});

	test('are paired with the summary by item', async () => {
		respondWith(ok(2), ok(1));
		const { pushed } = await runPush([leads, none, others], csv(inTwos));
		const items = pushed.map(({ pairedItem }) => pairedItem);
		expect(items).toEqual([[{ item: 0 }, { item: 2 }]]);
	});

	test.each<[string, INodeExecutionData[], RegExp]>([
		[
			'one file',
			[fileItem('b.csv', lines('phone', phone(0), phone(1), '', phone(2)))],
			/\nPushed: 2 rows \(rows 2 to 3, contact list 501\)\.[^]*\nNot sent: 1 row \(row 5\)\.[^]*\nRow numbers are as in a spreadsheet program, with the header of each file\.$/,
		],
		[
			'several',
			inOneItem,
			/\nPushed: 2 rows \(row 4 of "leads\.csv", row 2 of "export\.txt", contact list 501\)\.[^]*\nNot sent: 1 row \(row 3 of "export\.txt"\)\.[^]*\nRow numbers are as in a spreadsheet program, with the header of each file\./,
		],
	])('if a push of %s stops, the message names the rows', async (_what, input, description) => {
		respondWith(ok(2), ARCHIVED);
		const { error } = await runPush(input, csv(inTwos));
		expect(error?.description).toMatch(description);
	});

	test('with the same name are numbered in the message of a push that stopped', async () => {
		respondWith(ok(1), ARCHIVED);
		const files = [0, 1].map((row) => fileItem('a.csv', lines('phone', phone(row))));
		const { error } = await runPush(files, csv({ options: { contactsPerRequest: 1 } }));
		expect(error?.description).toContain('(row 2 of "a.csv", contact list 501)');
		expect(error?.description).toContain('(row 2 of "a.csv (2)")');
	});

	test.each<[string, INodeExecutionData, string]>([
		[
			'has no phone numbers',
			fileItem('b.csv', lines('name', 'Asha')),
			'The file "b.csv" has no column "phone", so nothing was sent',
		],
		[
			'has them twice',
			fileItem('b.csv', lines('phone,phone', '1,2')),
			'Several columns of "b.csv" match "phone": "phone". Nothing was sent',
		],
		[
			'has two columns like the entered one',
			fileItem('b.csv', lines('PHONE,Phone', '1,2')),
			'Several columns of "b.csv" match "phone": "PHONE", "Phone". Nothing was sent',
		],
		[
			'has another name for them',
			fileItem('b.csv', lines('Mobile', '1')),
			'The files name the columns of phone numbers or names differently ("Phone", "person_name", "Mobile"), so nothing was sent',
		],
		[
			'is no file',
			{ json: { phone: phone(1) } },
			'Row 2 of the input has no file, so nothing was sent',
		],
	])('are not sent if one of them %s', async (_what, other, message) => {
		const { error } = await runPush([leads, other], csv());
		expect(error?.message).toBe(message);
	});
});

describe('files in the fields of an item', () => {
	const list = fileItem('a.csv', lines('phone', phone(0))).binary?.data;

	test('are read with Execution Logic v2 of the workflow', async () => {
		const bodies = respondWith(ok());
		const json = { List: [{ ...list }], note: { mimeType: 'text/csv' } };
		const { error } = await runPush([{ json }], csv(), {}, { binaryMode: 'combined' });
		expect(error).toBeUndefined();
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0)]);
	});

	test.each<[string, IWorkflowSettings, IDataObject]>([
		['without it', {}, {}],
		['if they are none', { binaryMode: 'combined' }, { id: 5 }],
		['if their name is none', { binaryMode: 'combined' }, { fileName: {} }],
	])('are not read %s', async (_when, settings, over) => {
		const json = { list: { ...list, ...over } };
		const { error } = await runPush([{ json }], csv(), {}, settings);
		expect(error).toMatchObject({
			message: 'Row 1 of the input has no file, so nothing was sent',
			description: expect.stringMatching(/^Connect a node that returns the CSV file/),
		});
	});
});

describe('files beside the rows', () => {
	const { json: file, binary } = fileItem('contract.pdf', 'x');
	const rows = [
		{ json: { ...file, phone: phone(0) }, binary },
		{ json: { phone: 'none' }, binary },
	];
	const filesOf = (items: INodeExecutionData[]) => items.map((item) => item.binary);

	test('go on with them, pushed or rejected', async () => {
		respondWith(ok());
		const { pushed, rejected } = await runPush(rows, { options: { output: 'rows' } });
		expect([filesOf(pushed), filesOf(rejected)]).toEqual([[binary], [binary]]);
	});

	test.each([
		['continueRegularOutput', 1],
		['continueErrorOutput', 3],
	] as const)('go on if the push could not begin, with %s', async (onError, index) => {
		const { run } = await runPush(rows, { campaignId: 'x' }, { onError });
		expect(filesOf(output(run, 'Node', index))).toEqual([binary, binary]);
	});

	test("aren't added to the rows of a file", async () => {
		respondWith(ok());
		const { pushed } = await runPush([fileItem('a.csv', lines('phone', phone(0)))], csv(byRow));
		expect(filesOf(pushed)).toEqual([undefined]);
	});
});

test('a tool reads no file', async () => {
	const call = engineTool(pushNode(csv()), { data: newExecutionData() });
	expect(await call({})).toMatchObject({
		outcome: 'not_sent',
		what_happened: `'Contacts From' must be 'Input Items' or 'JSON' (got "csv"), so nothing was sent.`,
	});
});

describe('a file that n8n stores', () => {
	/** Files that n8n reads piece by piece. */
	function stored(
		pieces: (name: string) => Iterable<Buffer> | AsyncIterable<Buffer>,
		...names: string[]
	): INodeExecutionData[] {
		const read = jest.spyOn(Container.get(BinaryDataService), 'getAsStream');
		read.mockImplementation(async (id) =>
			Readable.from(pieces(id.replace('filesystem-v2:', '')), { highWaterMark: 1 }),
		);
		return names.map((fileName) => {
			const id = `filesystem-v2:${fileName}`;
			const file = { id, data: 'filesystem-v2', mimeType: 'text/csv', fileName };
			return { json: {}, binary: { data: file } };
		});
	}

	test('is read in any pieces, which may begin within a letter, and closed', async () => {
		const file = Buffer.from(lines('phone,person_name', `${phone(0)},Zoë`));
		let open = 0;
		function* pieces() {
			open++;
			try {
				yield* chunk(file, 1).map((byte) => Buffer.from(byte));
			} finally {
				open--;
			}
		}
		const bodies = respondWith(ok());
		await runPush(stored(pieces, 'a.csv'), csv());
		expect(bodies.flatMap(contactsOf)).toEqual([{ phone: phone(0), person_name: 'Zoë' }]);
		expect(open).toBe(0);
	});

	test('is not pushed if n8n cannot read it, nor again if n8n has deleted it before a retry', async () => {
		let isThere = false;
		function* untilDeleted() {
			yield Buffer.from(lines('phone', phone(0)));
			if (!isThere) throw new Error('File not found');
		}
		const NOT_READ = 'n8n couldn\'t read the file "a.csv" to its end, so nothing was sent';
		const { error: unread } = await runPush(stored(untilDeleted, 'a.csv'), csv());
		expect(unread?.message).toBe(NOT_READ);
		expect(unread?.description).toContain('n8n said: File not found.');
		isThere = true;
		respondWith(BROKEN);
		const { run } = await runPush(stored(untilDeleted, 'a.csv'), csv());
		isThere = false;
		const { workflow } = oneNodeWorkflow(pushNode(csv()), OUTPUTS);
		const { error } = outputsOf(await retryFailed(run, workflow));
		expect(error?.message).toBe(`${NOT_READ} in this attempt`);
		expect(error?.description).toContain('An earlier attempt may have sent');
	});

	test('is read before the first request, so it may change or be deleted while its rows are sent', async () => {
		const [before, after] = [[1, 2, 3], [7]].map((numbers) =>
			lines('phone', ...numbers.map(phone)),
		);
		let content = before;
		const sent = scripted((numbers) => {
			content = after;
			return ok(numbers.length);
		});
		const input = stored(() => [Buffer.from(content ?? '')], 'a.csv');
		expect((await runPush(input, csv(inTwos))).error).toBeUndefined();
		expect(sent).toEqual([phones(1, 2), phones(3)]);
	});
});

describe('more than n8n can have in memory or store as items', () => {
	const MAX = 50;
	beforeEach(() => {
		jest.replaceProperty(PUSH_LIMITS, 'rows', 2 * MAX);
		jest.replaceProperty(PUSH_LIMITS, 'outputRows', MAX);
	});

	const fileOf = (name: string, first: number, count: number) =>
		fileItem(name, lines('phone', ...range(first, first + count).map(phone)));
	const repeated = (header: string, row: string, count: number) =>
		fileItem('a.csv', lines(header, ...Array<string>(count).fill(row)));

	test.each<[string, text: string, rows: number, size: number]>([
		['rows', lines('phone', ...range(MAX + 1).map(phone)), MAX + 1, Infinity],
		['bytes', lines('phone,note', `${phone(0)},${'x'.repeat(100)}`), 1, 100],
		['cells', lines(`phone,${range(9).join()}`, `${phone(0)}${','.repeat(9)}`), 1, 100],
	])('with more %s, Pushed has only the summary', async (_what, text, count, size) => {
		jest.replaceProperty(PUSH_LIMITS, 'outputSize', size);
		respondWith(ok(count));
		const { pushed } = await runPush([fileItem('a.csv', text)], csv(byRow));
		expect(pushed).toMatchObject([{ json: { totals: { pushed: count } } }]);
	});

	test('after a stop, Rejected has one item for the rows with the same reason', async () => {
		const files = [fileOf('a.csv', 0, 30), fileOf('b.csv', 60, 27)];
		const bodies = respondWith(ok(3), BROKEN);
		const inThrees = { options: { contactsPerRequest: 3 } };
		const { error, rejected, pushed } = await runPush(files, csv(inThrees), goOn);
		expect(error).toBeUndefined();
		expect(sizes(bodies)).toEqual([3, 3]);
		expect(pushed[0]?.json.totals).toMatchObject({ pushed: 3, unknown: 3, not_sent: MAX + 1 });
		const item = (status: string, rows: string, ...items: number[]) => ({
			json: {
				push_status: status,
				rejection_reason: expect.stringMatching(`^${rows}: \\w+ `),
			},
			pairedItem: items.map((file) => ({ item: file })),
		});
		expect(rejected).toEqual([
			item('unknown', 'Rows 5 to 7 of "a.csv"', 0),
			item('not_sent', 'Rows 8 to 31 of "a.csv", rows 2 to 28 of "b.csv"', 0, 1),
		]);
	});

	test.each<[string, INodeExecutionData, advice: string]>([
		[
			'100 rows',
			repeated('phone', 'x', 2 * MAX + 1),
			'Split it, and push at most 100 rows at a time.',
		],
		[
			'0.001 MB or 100,000,000 cells',
			repeated('phone,note', `${phone(0)},${'x'.repeat(90)}`, 10),
			"Remove the columns that you don't need, or push fewer rows at a time.",
		],
	])('with more than %s, nothing is sent', async (what, file, advice) => {
		jest.replaceProperty(PUSH_LIMITS, 'bytes', 1_000);
		const { error } = await runPush([file], csv());
		expect(error).toMatchObject({
			message: `The input has more than ${what}, the most that a push can have, so nothing was sent`,
			description: expect.stringContaining(advice),
		});
	});
});

test('the limits are those of docs/campaigns.md', () => {
	const page = readFileSync(join(__dirname, '../../../docs/campaigns.md'), 'utf8');
	const { rows, bytes, outputRows } = PUSH_LIMITS;
	expect(page).toContain(`${bytes / 1_000_000} MB`);
	for (const limit of [rows, outputRows]) expect(page).toContain(limit.toLocaleString('en-US'));
});
