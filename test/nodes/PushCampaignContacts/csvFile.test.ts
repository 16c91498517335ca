import { Readable } from 'node:stream';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject, INodeExecutionData, IWorkflowSettings } from 'n8n-workflow';
import { MAX_OUTPUT_ROWS } from '../../../nodes/PushCampaignContacts/file/fileRows';
import {
	newExecutionData,
	engineHarness,
	engineTool,
	oneNodeWorkflow,
	output,
	retryFailed,
	runWorkflow,
} from '../../engine';
import {
	accepted,
	ARCHIVED,
	respondInto,
	respondWith,
	breaking,
	goOn,
	inTwos,
	ok,
	contactsOf,
	runPush,
	pushNode,
	fileItem,
	jsonOf,
	phone,
	phonesOf,
	sizes,
	type NodeParameters,
	WAITING,
} from './pushHarness';
import { contentOf } from './file/files';

engineHarness();

const csv = (over: NodeParameters = {}): NodeParameters => ({ contactsFrom: 'csv', ...over });
const lines = (...rows: string[]) => `${rows.join('\n')}\n`;

describe('a file', () => {
	test('lists the rows in Rejected with their file and row number', async () => {
		respondWith([200, accepted(2)]);
		const leads = lines(
			'phone,person_name,city',
			'98765 43210,Asha,Pune',
			'022 1234,Farah,Mumbai',
			'+919876543210,Asha Rao,Pune',
			'9876543211,Ravi,Nagpur',
		);
		const { rejected, hints } = await runPush([fileItem('leads.csv', leads)], csv());
		expect(rejected).toEqual([
			{
				json: {
					phone: '98765 43210',
					person_name: 'Asha',
					city: 'Pune',
					source_file: 'leads.csv',
					source_row: 2,
					rejection_status: 'duplicate',
					rejection_reason:
						'Row 4 has the same number and was kept. The node pushes one row per phone number.',
				},
				pairedItem: { item: 0 },
			},
			{
				json: expect.objectContaining({ source_row: 3, rejection_status: 'rejected' }),
				pairedItem: { item: 0 },
			},
		]);
		expect(hints).toEqual([`4 rows: 2 pushed, 1 rejected, 1 duplicate. ${WAITING}`]);
	});

	test('is read with a hint if its encoding is guessed', async () => {
		const bodies = respondWith([200, accepted(1)]);
		const latin = Buffer.from(`phone;name\n${phone(1)};Ren\xe9\n`, 'latin1');
		const { hints } = await runPush([fileItem('a.csv', latin)], csv());
		expect(contactsOf(bodies[0])[0]?.person_name).toBe('René');
		expect(hints[1]).toBe(
			'The file "a.csv" was read as Windows-1252. Check letters such as é in the rows. If they\'re wrong, save the file as CSV UTF-8 for the next push.',
		);
	});
});

describe('several files', () => {
	const leads = fileItem(
		'leads.csv',
		lines('Name,Phone', `Asha,${phone(0)}`, '', `Ravi,${phone(1)}`, 'Zoya,call me'),
		'List_0',
	);
	const export1 = fileItem(
		'export.txt',
		lines('Mobile No;City;person_name', `${phone(2)};Pune;`, `+91 ${phone(0)};Goa;Asha Rao`),
		'List_1',
	);
	const inOneItem = [{ json: {}, binary: { ...export1.binary, ...leads.binary } }];

	test.each<[string, INodeExecutionData[], items: number[]]>([
		['of one item, in any order of its fields,', inOneItem, [0, 0]],
		['of several items', [leads, export1], [0, 1]],
	])('%s are one push, each with its own columns', async (_which, input, [first, second]) => {
		const bodies = respondWith(ok(2), ok(1));
		const { pushed, rejected, hints } = await runPush(
			input,
			csv({ ...inTwos, options: { output: 'rows' } }),
		);
		expect(bodies.flatMap(contactsOf)).toEqual([
			{ phone: phone(1), person_name: 'Ravi' },
			{ phone: phone(2), City: 'Pune' },
			{ phone: `+91${phone(0)}`, City: 'Goa', person_name: 'Asha Rao' },
		]);
		const places = (rows: INodeExecutionData[]) =>
			rows.map(({ json, pairedItem }) => [json.source_file, json.source_row, pairedItem]);
		expect(places(pushed)).toEqual([
			['leads.csv', 4, { item: first }],
			['export.txt', 2, { item: second }],
			['export.txt', 3, { item: second }],
		]);
		expect(places(rejected)).toEqual([
			['leads.csv', 2, { item: first }],
			['leads.csv', 5, { item: first }],
		]);
		expect(rejected[0]?.json.rejection_reason).toMatch(
			/^Row 3 of "export\.txt" has the same number and was kept/,
		);
		expect(pushed[1]?.json).toMatchObject({ 'Mobile No': phone(2), City: 'Pune' });
		expect(hints).toContain('Columns used: "Phone" as phone, "Name" as person_name.');
		expect(hints).toContain('Columns used: "Mobile No" as phone.');
	});

	test('are named with their rows if the push stops', async () => {
		respondWith(ok(2), ARCHIVED);
		const { error } = await runPush(inOneItem, csv(inTwos));
		expect(error?.description).toMatch(
			/\nPushed: 2 rows \(row 4 of "leads\.csv", row 2 of "export\.txt", contact list 501\)\..*\nNot sent: 1 row \(row 3 of "export\.txt"\)\.[^]*The header of each file is row 1\./,
		);
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
			'The header of "b.csv" has more than one column "phone", so nothing was sent',
		],
		[
			'has two columns like the entered one',
			fileItem('b.csv', lines('PHONE,Phone', '1,2')),
			'Several columns of "b.csv" match "phone": "PHONE", "Phone". Nothing was sent',
		],
		[
			"isn't text",
			fileItem('b.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0])),
			'The file "b.png" isn\'t text in UTF-8, UTF-16, or Windows-1252, so nothing was sent',
		],
		['is empty', fileItem('b.csv', ''), 'The file "b.csv" is empty, so nothing was sent'],
	])('are not sent if one of them %s', async (_what, other, message) => {
		const { error } = await runPush([leads, other], csv());
		expect(error?.message).toBe(message);
	});

	test('with the same name are numbered, and one without a name has that of its field', async () => {
		const file = (row: number, name: string) => fileItem(name, lines('phone', phone(row)));
		const { data } = file(3, 'x').binary ?? {};
		const unnamed = {
			json: {},
			binary: { upload: { data: data?.data ?? '', mimeType: 'text/csv' } },
		};
		respondWith(ok(4));
		const { pushed } = await runPush(
			[file(0, 'a.csv'), file(1, 'a.csv'), file(2, 'b.csv'), unnamed],
			csv({ options: { output: 'rows' } }),
		);
		const names = pushed.map(({ json }) => json.source_file);
		expect(names).toEqual(['a.csv', 'a.csv (2)', 'b.csv', 'upload']);
	});

	test('are not sent if an item has none', async () => {
		const { error } = await runPush([leads, { json: { phone: phone(1) } }], csv());
		expect(error).toMatchObject({
			message: 'Row 2 of the input has no file, so nothing was sent',
			description: expect.stringContaining("set 'Contacts From' to 'Input Items'"),
		});
	});

	test('more rows than n8n can store as items: Rejected has one item for the rows of a request and a file', async () => {
		const half = MAX_OUTPUT_ROWS / 2;
		const file = (name: string, start: number) => {
			const phones = Array.from({ length: half + 5_000 }, (_, row) => phone(start + row));
			return fileItem(name, `phone\n${phones.join('\n')}\n`);
		};
		breaking('ECONNRESET');
		const { rejected } = await runPush([file('a.csv', 0), file('b.csv', 600_000)], csv(), goOn);
		expect(rejected).toHaveLength(1 + MAX_OUTPUT_ROWS / 10_000);
		expect(rejected[25]).toEqual({
			json: {
				rejection_status: 'not_sent',
				rejection_reason: expect.stringMatching(
					/^Rows 250002 to 255001 of "a\.csv", rows 2 to 5001 of "b\.csv": The push stopped /,
				),
			},
			pairedItem: [{ item: 0 }, { item: 1 }],
		});
	});
});

describe('files in the fields of an item', () => {
	const list = fileItem('a.csv', lines('phone', phone(0))).binary?.data;

	test('are read with Execution Logic v2 of the workflow', async () => {
		const bodies = respondWith(ok(1));
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
		expect(error?.message).toBe('The input has no file, so nothing was sent');
	});
});

test('a single file is read, whatever its field is called', async () => {
	const bodies = respondWith(ok(1));
	const { error } = await runPush([fileItem('a.csv', lines('phone', phone(0)), 'List_0')], csv());
	expect(error).toBeUndefined();
	expect(bodies.flatMap(phonesOf)).toEqual([phone(0)]);
});

describe('columns of a file', () => {
	test.each<[string, string, string, RegExp]>([
		[
			'none has phone numbers',
			lines('name,city', 'Ravi,Goa'),
			'The input has no column "phone", so nothing was sent',
			/^In 'Phone Column', enter .* The input has: "name", "city"\./,
		],
		[
			'it has the column twice',
			lines('phone,phone', `${phone(2)},x`),
			'The header has more than one column "phone", so nothing was sent',
			/^Remove or rename all but one/,
		],
		['it is empty', '', 'The file "b.csv" is empty, so nothing was sent', /first row/],
	])('are not sent if %s', async (_what, text, message, description) => {
		const { error } = await runPush([fileItem('b.csv', text)], csv());
		expect(error).toMatchObject({ message, description: expect.stringMatching(description) });
	});
});

test('rows of a file are named if the push stops', async () => {
	respondWith(ok(), ARCHIVED);
	const file = fileItem('b.csv', lines('phone', phone(0), '', phone(1)));
	const oneEach = csv({ developerSettings: { contactsPerRequest: 1 } });
	const { error } = await runPush([file], oneEach);
	expect(error).toHaveProperty(
		'description',
		expect.stringMatching(
			/Pushed: 1 row \(row 2, contact list 501\)\.[^]*Not sent: 1 row \(row 4\)\.[^]*Row numbers of the file "b\.csv" are as in a spreadsheet program\. The header is row 1\.$/,
		),
	);
});

describe('nothing is sent, and the error explains why, if', () => {
	test('the input has rows', async () => {
		const { error } = await runPush([{ json: { phone: phone(1) } }], csv());
		expect(error).toMatchObject({
			message: 'The input has no file, so nothing was sent',
			description:
				"Add a node that returns the CSV file, such as HTTP Request, Google Drive, or a form. If the items are rows, set 'Contacts From' to 'Input Items'.",
		});
	});

	test('the node is a tool', async () => {
		const node = pushNode(csv());
		const call = engineTool(node, { data: newExecutionData() });
		expect(await call({})).toMatchObject({
			outcome: 'not_sent',
			what_happened: "A tool can't read CSV files, so nothing was sent.",
		});
	});
});

test('with Continue, Rejected lists the input item of an unreadable file', async () => {
	const item = fileItem('bad-quote.csv', contentOf('bad-quote.csv'));
	const { rejected } = await runPush([item], csv(), goOn);
	expect(jsonOf(rejected)).toMatchObject([
		{
			note: 'bad-quote.csv',
			rejection_status: 'not_sent',
			rejection_reason: expect.stringMatching(/has a quote in row 3 that isn't closed/),
		},
	]);
});

test.each([
	['other contacts', JSON.stringify([9, 8, 7].map((row) => ({ phone: phone(row) }))), 3],
	['no contacts', '', 1],
])(
	'Retry with %s instead of the file reports no row as not_sent',
	async (_what, contacts, rows) => {
		const items = [fileItem('a.csv', lines('phone', ...[0, 1, 2, 3, 4].map(phone)))];
		const bodies = respondWith(ok(2), ARCHIVED);
		const outputs = ['Pushed', 'Rejected'];
		const { workflow, start } = oneNodeWorkflow(pushNode(csv(inTwos)), outputs);
		const failed = await runWorkflow(workflow, start, items, 'trigger');
		const node = pushNode({ ...inTwos, contactsFrom: 'json', contacts }, goOn);
		const edited = oneNodeWorkflow(node, outputs).workflow;
		const again = await retryFailed(failed, edited);
		const statuses = output(again, 'Node', 1).map(({ json }) => json.rejection_status);
		expect(statuses).toEqual(Array.from({ length: rows }, () => 'unknown'));
		expect(sizes(bodies)).toEqual([2, 2]);
	},
);

test('if n8n deletes a file while its rows are sent, the message leads to the remaining rows, and the retry sends only these', async () => {
	const numbers = Array.from({ length: 10 }, (_, index) => phone(index));
	const bodies = respondWith(ok(2), ok(2), ok(2));
	let isDeleted = true;
	// n8n reads its stored file piece by piece.
	async function* pieces() {
		for (const [index, piece] of ['phone', ...numbers].entries()) {
			await new Promise((resolve) => setImmediate(resolve));
			if (isDeleted && bodies.length > 0 && index > 7) throw new Error('ENOENT');
			yield Buffer.from(`${piece}\n`);
		}
	}
	const read = jest.spyOn(Container.get(BinaryDataService), 'getAsStream');
	read.mockImplementation(async () => Readable.from(pieces(), { highWaterMark: 1 }));
	const stored = { id: 'filesystem-v2:a', data: 'filesystem-v2', mimeType: 'text/csv' };
	const input = [{ json: {}, binary: { data: { ...stored, fileName: 'a.csv' } } }];
	const { workflow, start } = oneNodeWorkflow(pushNode(csv(inTwos)), ['Pushed', 'Rejected']);
	const failed = await runWorkflow(workflow, start, input, 'trigger');
	expect(failed.data.resultData.error).toMatchObject({
		message: `n8n couldn't read the file "a.csv" to its end, so the remaining rows weren't sent`,
		description: expect.stringMatching(
			/^Push only the remaining rows\. If n8n has deleted the file, load it again first\. n8n said: ENOENT\.\n10 rows: 6 pushed, 4 not sent\.\nPushed: 6 rows[^]*\nNot sent: 4 rows .* To send only these rows, retry this execution/,
		),
	});
	isDeleted = false;
	respondInto(bodies, ok(2), ok(2));
	expect((await retryFailed(failed, workflow)).data.resultData.error).toBeUndefined();
	expect(bodies.flatMap(phonesOf)).toEqual(numbers);
	read.mockRestore();
});

describe('more rows than n8n can store as items', () => {
	const fileOf = (count: number) => {
		const phones = Array.from({ length: count }, (_, row) => phone(row));
		return fileItem('a.csv', `phone\n${phones.join('\n')}\n`);
	};

	test('with One Item per Row, nothing is sent', async () => {
		const file = fileOf(MAX_OUTPUT_ROWS + 1);
		const { error } = await runPush([file], csv({ options: { output: 'rows' } }));
		expect(error).toMatchObject({
			message: expect.stringMatching(
				/^The input has 500,001 rows, but with 'Output' set to 'One Item per Row', CSV files can have at most 500,000\. Nothing was sent/,
			),
			description: expect.stringContaining("'One Summary Item', or push fewer rows at a time."),
		});
	});

	test('if Rejected would return them, nothing is sent', async () => {
		const text = `phone\n${phone(0)}\n${'x\n'.repeat(MAX_OUTPUT_ROWS + 1)}`;
		const { error } = await runPush([fileItem('a.csv', text)], csv());
		expect(error).toMatchObject({
			message: expect.stringMatching(/^More than 500,000 rows can't be pushed .*Nothing was sent/),
			description: expect.stringMatching(
				/Remove these rows from the file, .* The first reason: "x" isn't a phone number/,
			),
		});
	});

	test('after a stop, Rejected has one item for the rows of a request', async () => {
		const last = MAX_OUTPUT_ROWS + 20_002;
		const bodies = breaking('ECONNRESET', respondWith([200, accepted(10_000)]));
		const { error, rejected, pushed } = await runPush([fileOf(last - 1)], csv(), goOn);
		expect(error).toBeUndefined();
		expect(sizes(bodies)).toEqual([10_000, 10_000]);
		expect(pushed[0]?.json.totals).toMatchObject({
			pushed: 10_000,
			unknown: 10_000,
			not_sent: MAX_OUTPUT_ROWS + 1,
		});
		const rows = (first: number, end: number): unknown =>
			expect.stringMatching(
				`^Rows ${first} to ${end}: \\w+ .* Row numbers of the file "a.csv" are as in`,
			);
		expect(jsonOf(rejected)).toHaveLength(1 + MAX_OUTPUT_ROWS / 10_000 + 1);
		expect(jsonOf(rejected.slice(0, 2))).toEqual([
			{ rejection_status: 'unknown', rejection_reason: rows(10_002, 20_001) },
			{ rejection_status: 'not_sent', rejection_reason: rows(20_002, 30_001) },
		]);
		expect(rejected.at(-1)).toEqual({
			json: {
				rejection_status: 'not_sent',
				rejection_reason: expect.stringContaining(`Row ${last}: The `),
			},
			pairedItem: [{ item: 0 }],
		});
	});
});
