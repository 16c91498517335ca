import { Readable } from 'node:stream';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { INodeExecutionData } from 'n8n-workflow';
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

test('several files in one push are not sent', async () => {
	const files = ['a.csv', 'b.csv'].map((name) => fileItem(name, lines('phone', phone(0))));
	const { error } = await runPush(files, csv());
	expect(error).toMatchObject({
		message: 'The input has 2 items, but a push reads one CSV file. Nothing was sent',
		description: expect.stringMatching(/^To push several files, add a Loop Over Items node/),
	});
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
			'The header of the file has more than one column "phone", so nothing was sent',
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
			/Pushed: 1 row \(row 2, contact list 501\)\.[^]*Not sent: 1 row \(row 4\)\.[^]*Row numbers of "b\.csv" are as in a spreadsheet program\. The header is row 1\.$/,
		),
	);
});

describe('nothing is sent, and the error explains why, if', () => {
	test.each<[string, INodeExecutionData, RegExp]>([
		[
			'the field is another one',
			fileItem('a.csv', 'phone\n1\n', 'file'),
			/^The item has no binary field 'data'/,
		],
		['the item has rows', { json: { phone: phone(1) } }, /binary file 'data', but none was found/],
	])('%s, as n8n says it', async (_what, input, message) => {
		const { error } = await runPush([input], csv());
		expect(error?.message).toMatch(message);
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
	['new', 6],
	['gone', 1],
])('Retry with another file of the item reports no row as not_sent: %s', async (field, rows) => {
	const text = ['phone', ...[0, 1, 2, 3, 4].map(phone)].join('\n');
	const first = fileItem('a.csv', text);
	const second = fileItem('b.csv', text.replace('phone', `phone\n${phone(9)}`), 'new');
	const items = [{ ...first, binary: { ...first.binary, ...second.binary } }];
	const bodies = respondWith(ok(2), ARCHIVED);
	const outputs = ['Pushed', 'Rejected'];
	const { workflow, start } = oneNodeWorkflow(pushNode(csv(inTwos)), outputs);
	const failed = await runWorkflow(workflow, start, items, 'trigger');
	const node = pushNode(csv({ ...inTwos, binaryPropertyName: field }), goOn);
	const edited = oneNodeWorkflow(node, outputs).workflow;
	const again = await retryFailed(failed, edited);
	const statuses = output(again, 'Node', 1).map(({ json }) => json.rejection_status);
	expect(statuses).toEqual(Array.from({ length: rows }, () => 'unknown'));
	expect(sizes(bodies)).toEqual([2, 2]);
});

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
				/^The file has 500,001 rows, but with 'Output' set to 'One Item per Row', a file can have at most 500,000\. Nothing was sent/,
			),
			description: expect.stringContaining("'One Summary Item', or split the file."),
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
			expect.stringMatching(`^Rows ${first} to ${end}: \\w+ .* Row numbers of "a.csv" are as in`);
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
