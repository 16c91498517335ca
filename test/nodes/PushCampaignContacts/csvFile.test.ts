import { Readable } from 'node:stream';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
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
		expect(hints).toEqual([
			`4 rows: 2 pushed, 1 rejected, 1 duplicate. ${WAITING} The 'Rejected' output shows the reason for each row.`,
		]);
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
	const files = [
		fileItem('a.csv', `phone,person_name\n${phone(1)},Asha\n`),
		fileItem('b.csv', `person_name;phone\nAsha Rao;${phone(1)}\nRavi;${phone(2)}\n`),
	];

	test('are pushed together: each number once, each row paired with its file', async () => {
		const bodies = respondWith([200, accepted(2)]);
		const byRow = csv({ options: { output: 'rows' } });
		const { pushed, rejected } = await runPush(files, byRow);
		expect(contactsOf(bodies[0])).toMatchObject([
			{ phone: phone(1), person_name: 'Asha Rao' },
			{ phone: phone(2) },
		]);
		const reason = /^Row 2 of "b\.csv" has the same number and was kept\./;
		expect(rejected).toMatchObject([
			{
				json: {
					source_file: 'a.csv',
					source_row: 2,
					rejection_reason: expect.stringMatching(reason),
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(pushed.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }, { item: 1 }]);
	});

	describe('with different headings', () => {
		const first = fileItem('a.csv', lines('phone,person_name,city', `${phone(1)},Asha,Pune`));

		test('are read with the columns of each file', async () => {
			const bodies = respondWith([200, accepted(4)]);
			const others = [
				lines('Phone,Person Name,City', `${phone(2)},Ravi,Goa`),
				lines('city,Full Name,Mobile,phone_2', `Delhi,Zoya,${phone(3)},x`),
				lines('phone,Phone,person_name,city', `${phone(4)},${phone(5)},Farah,Agra`),
			];
			const items = [first, ...others.map((text, at) => fileItem(`${at}.csv`, text))];
			const onlyCity = csv({ otherColumns: 'listed', columnsToSend: 'city' });
			const { error, rejected, hints } = await runPush(items, onlyCity);
			expect([error, rejected]).toEqual([undefined, []]);
			expect(contactsOf(bodies[0])).toEqual([
				{ phone: phone(1), person_name: 'Asha', city: 'Pune' },
				{ phone: phone(2), person_name: 'Ravi', city: 'Goa' },
				{ phone: phone(3), person_name: 'Zoya', city: 'Delhi' },
				{ phone: phone(4), person_name: 'Farah', city: 'Agra' },
			]);
			expect(hints).toEqual([`4 rows: 4 pushed. ${WAITING}`]);
		});

		test('send phone and name columns once, and other columns under their own names', async () => {
			const bodies = respondWith([200, accepted(2)]);
			const second = fileItem('b.csv', lines('Phone,phone,Name', `${phone(3)},${phone(2)},Ravi`));
			await runPush([first, second], csv());
			expect(contactsOf(bodies[0])).toEqual([
				{ phone: phone(1), person_name: 'Asha', city: 'Pune' },
				{ phone: phone(2), person_name: 'Ravi', Phone: phone(3) },
			]);
		});

		test.each<[string, string, string, RegExp]>([
			[
				'one has no column for the phone',
				lines('name,city', 'Ravi,Goa'),
				'The file "b.csv" has no column "phone", so nothing was sent',
				/^In 'Phone Column', enter .* Its first row must name the columns\. The file "b\.csv" has: "name", "city"\./,
			],
			[
				'one has the column twice',
				lines('phone,phone', `${phone(2)},x`),
				'The header of the file "b.csv" has more than one column "phone", so nothing was sent',
				/^Remove or rename all but one/,
			],
			[
				'one has two columns that could be meant',
				lines('Phone,PHONE', `${phone(2)},x`),
				'Several columns match "phone": "Phone", "PHONE". Nothing was sent',
				/enter the exact name of the column as in the file "b\.csv"/,
			],
			['one is empty', '', 'The file "b.csv" is empty, so nothing was sent', /first row/],
		])('are not sent if %s', async (_what, text, message, description) => {
			const { error } = await runPush([first, fileItem('b.csv', text)], csv());
			expect(error).toMatchObject({ message, description: expect.stringMatching(description) });
		});
	});

	const named = fileItem('a.csv', `phone,Name\n${phone(0)},Asha\n`);
	const withoutNames = ['b.csv', 'c.csv'].map((name, at) =>
		fileItem(name, `phone,Who\n${phone(at + 1)},Ravi\n`),
	);
	test.each([
		[
			'one has',
			[named, ...withoutNames.slice(1)],
			'The file "c.csv" has no column for names, so its contacts have no names. If it has names, rename their column to "person_name".',
		],
		[
			'two have',
			[named, ...withoutNames],
			'The files "b.csv", "c.csv" have no column for names, so their contacts have no names. If they have names, rename their column to "person_name".',
		],
		[
			'all have',
			withoutNames,
			`The input has no column "person_name", so the contacts have no names. If another column has them, enter it in 'Person Name Column'.`,
		],
	])('are pushed with a hint if %s no column for names', async (_which, items, hint) => {
		respondWith([200, accepted(items.length)]);
		const { hints } = await runPush(items, csv());
		expect(hints.slice(1)).toEqual([hint]);
	});

	test('are named if the push stops', async () => {
		respondWith(ok(), ARCHIVED);
		const oneEach = csv({ developerSettings: { contactsPerRequest: 1 } });
		const { error } = await runPush(files, oneEach);
		expect(error).toHaveProperty(
			'description',
			expect.stringMatching(
				/Pushed: 1 row \(row 2 of "b\.csv", contact list 501\)\.[^]*Not sent: 1 row \(row 3 of "b\.csv"\)\.[^]*Row numbers are as in a spreadsheet program\. The header is row 1\.$/,
			),
		);
	});
});

describe('nothing is sent, and the error explains why, if', () => {
	const item = fileItem('a.csv', 'phone\n1\n');
	const NO_FILE = 'The input has no file in the field "data". Nothing was sent';
	test.each<[string, typeof item, NodeParameters, string, RegExp]>([
		[
			'the field is another one',
			item,
			{ binaryPropertyName: 'file' },
			'The input has no file in the field "file". Nothing was sent',
			/Input Binary Field.* The item has a file in "data"\.$/,
		],
		[
			'the item has other data',
			{ json: { phone: phone(1) } },
			{},
			NO_FILE,
			/The item has no file, but it has other data\. .* set 'Contacts From' to 'Input Items'\.$/,
		],
		['the item has nothing', { json: {} }, {}, NO_FILE, /The item has no file\.$/],
	])('%s', async (_what, input, over, message, description) => {
		const { error } = await runPush([input], csv(over));
		expect(error).toMatchObject({ message, description: expect.stringMatching(description) });
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
			/^Push only the remaining rows\. If n8n has deleted the file, load it again first\. n8n said: ENOENT\.\nTo send only the rows that weren't sent, retry this execution[^]*\nPushed: 6 rows/,
		),
	});
	isDeleted = false;
	respondInto(bodies, ok(2), ok(2));
	expect((await retryFailed(failed, workflow)).data.resultData.error).toBeUndefined();
	expect(bodies.flatMap(phonesOf)).toEqual(numbers);
	read.mockRestore();
});

describe('more rows than n8n can store as items', () => {
	const fileOf = (name: string, first: number, count: number) => {
		const phones = Array.from({ length: count }, (_, row) => phone(first + row));
		return fileItem(name, `phone\n${phones.join('\n')}\n`);
	};

	test('with One Item per Row, nothing is sent', async () => {
		const file = fileOf('a.csv', 0, MAX_OUTPUT_ROWS + 1);
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

	test('after a stop, Rejected has one item for consecutive rows', async () => {
		const last = MAX_OUTPUT_ROWS - 10_000 + 2;
		const files = [fileOf('a.csv', 0, 30_000), fileOf('b.csv', 30_000, last - 1)];
		const bodies = breaking('ECONNRESET', respondWith([200, accepted(10_000)]));
		const { error, rejected, pushed } = await runPush(files, csv(), goOn);
		expect(error).toBeUndefined();
		expect(sizes(bodies)).toEqual([10_000, 10_000]);
		expect(pushed[0]?.json.totals).toMatchObject({
			pushed: 10_000,
			unknown: 10_000,
			not_sent: MAX_OUTPUT_ROWS + 1,
		});
		const inA = { source_file: 'a.csv', rejection_reason: expect.any(String) };
		const inB = { ...inA, source_file: 'b.csv', source_row: 2, source_row_last: last };
		expect(jsonOf(rejected)).toEqual([
			{ ...inA, rejection_status: 'unknown', source_row: 10_002, source_row_last: 20_001 },
			{ ...inA, rejection_status: 'not_sent', source_row: 20_002, source_row_last: 30_001 },
			{ ...inB, rejection_status: 'not_sent' },
		]);
		expect(rejected.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 0, 1].map((item) => ({ item })),
		);
	});
});
