import type { INode, INodeExecutionData, IRun } from 'n8n-workflow';
import {
	newExecutionData,
	engineHarness,
	engineTool,
	oneNodeWorkflow,
	output,
	retryFailed,
	runWorkflow,
} from '../../engine';
import { MAX_DUPLICATES_WITH_CELLS } from '../../../nodes/PushCampaignContacts/pushOutput';
import {
	accepted,
	respondWith,
	contactsOf,
	runPush,
	pushNode,
	fileItem,
	jsonOf,
	phone,
	phonesOf,
	rejection,
	sizes,
	type NodeParameters,
	WAITING,
} from './pushHarness';
import { contentOf } from './file/files';

const harness = engineHarness();

const csv = (over: NodeParameters = {}): NodeParameters => ({ contactsFrom: 'csv', ...over });
const LEADS = [
	'phone,person_name,city',
	'98765 43210,Asha,Pune',
	'022 1234,Farah,Mumbai',
	'+919876543210,Asha Rao,Pune',
	'9876543211,Ravi,Nagpur',
	'',
].join('\n');

describe('a file', () => {
	test('lists the rows in Rejected with their file and row number', async () => {
		respondWith([200, accepted(2)]);
		const { rejected, hints } = await runPush(harness, [fileItem('leads.csv', LEADS)], {
			...csv(),
		});
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

	test('with too many duplicates, Rejected lists them without their cells', async () => {
		const copies = Array.from(
			{ length: MAX_DUPLICATES_WITH_CELLS + 2 },
			() => `${phone(0)},Pune\n`,
		);
		const item = fileItem('leads.csv', `phone,city\n${copies.join('')}x,Pune\n`);
		respondWith([200, accepted(1)]);
		const { rejected } = await runPush(harness, [item], csv());
		expect(rejected).toHaveLength(MAX_DUPLICATES_WITH_CELLS + 2);
		expect(rejected[0]?.json).toEqual({
			rejection_status: 'duplicate',
			rejection_reason: expect.stringMatching(/^Row 2 has the same number and was kept\./),
			source_file: 'leads.csv',
			source_row: 3,
		});
		expect(rejected.at(-1)?.json).toMatchObject({ phone: 'x', city: 'Pune', source_row: 100_004 });
	});

	test('in an item may have line breaks in its base64', async () => {
		const bodies = respondWith([200, accepted(5_000)]);
		const phones = Array.from({ length: 5_000 }, (_, index) => phone(index));
		const { json, binary = {} } = fileItem('a.csv', ['phone', ...phones].join('\n'));
		const lines = binary.data?.data.replace(/.{76}/g, '$&\n') ?? '';
		const data = { mimeType: 'text/csv', fileName: 'a.csv', data: lines };
		await runPush(harness, [{ json, binary: { data } }], csv());
		expect(phonesOf(bodies[0])).toEqual(phones);
	});

	test('is read with the set delimiter and encoding', async () => {
		const bodies = respondWith([200, accepted(1)], [200, accepted(1)]);
		const text = Buffer.concat([Buffer.from(`phone^name\n${phone(1)}^Ren`), Buffer.from([0xe9])]);
		await runPush(harness, [fileItem('a.csv', text)], {
			...csv(),
			options: { delimiter: '^', encoding: 'windows-1251' },
		});
		await runPush(harness, [fileItem('a.csv', `phone\tname\n${phone(2)}\ta,b;c\n`)], {
			...csv(),
			options: { delimiter: '\\t', encoding: 'automatic' },
		});
		expect(bodies.flatMap(contactsOf)).toEqual([
			{ phone: phone(1), person_name: 'Renй' },
			{ phone: phone(2), person_name: 'a,b;c' },
		]);
	});

	test('without a name column, beside one that has it, is pushed with a hint', async () => {
		respondWith([200, accepted(2)]);
		const items = [
			fileItem('a.csv', `phone,Name\n${phone(1)},Asha\n`),
			fileItem('b.csv', `phone,Who\n${phone(2)},Ravi\n`),
		];
		const { hints } = await runPush(harness, items, csv());
		expect(hints).toEqual([
			`2 rows: 2 pushed. ${WAITING}`,
			expect.stringMatching(/^The file "b\.csv" has no column for names/),
		]);
	});

	test('with an invalid byte is pushed without that row', async () => {
		const bodies = respondWith([200, accepted(2)]);
		const names = ['आशा राव', 'रवि', 'Zoya'];
		const rows = names.map((name, index) => `${phone(index)},${name}`);
		const content = Buffer.from(['phone,person_name', ...rows].join('\n'));
		content[content.indexOf('रवि')] = 0xff;
		const { hints, rejected } = await runPush(harness, [fileItem('a.csv', content)], csv());
		expect(contactsOf(bodies[0]).map((contact) => contact.person_name)).toEqual([
			'आशा राव',
			'Zoya',
		]);
		expect(jsonOf(rejected)).toMatchObject([
			{
				phone: phone(1),
				source_row: 3,
				rejection_reason: expect.stringContaining("can't be read"),
			},
		]);
		expect(hints).toEqual([
			`3 rows: 2 pushed, 1 rejected. ${WAITING} The 'Rejected' output shows the reason for each row.`,
			expect.stringContaining('UTF-8, but has some invalid bytes'),
		]);
	});
});

describe('several files', () => {
	const files = [
		fileItem('a.csv', `phone,person_name\n${phone(1)},Asha\n`),
		fileItem('b.csv', `person_name;phone\nAsha Rao;${phone(1)}\nRavi;${phone(2)}\n`),
	];

	test('are pushed together: each number once, each row paired with its file', async () => {
		const bodies = respondWith([200, accepted(2)]);
		const { pushed, rejected } = await runPush(harness, files, {
			...csv(),
			options: { output: 'rows' },
		});
		expect(contactsOf(bodies[0])).toMatchObject([
			{ phone: phone(1), person_name: 'Asha Rao' },
			{ phone: phone(2) },
		]);
		expect(rejected).toMatchObject([
			{
				json: {
					source_file: 'a.csv',
					source_row: 2,
					rejection_reason: expect.stringMatching(
						/^Row 2 of "b\.csv" has the same number and was kept\./,
					),
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(pushed.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }, { item: 1 }]);
	});

	describe('with different headings', () => {
		const lines = (...rows: string[]) => `${rows.join('\n')}\n`;
		const first = fileItem('a.csv', lines('phone,person_name,city', `${phone(1)},Asha,Pune`));

		test('are read with the columns of each file', async () => {
			const bodies = respondWith([200, accepted(4)]);
			const others = [
				lines('Phone,Person Name,City', `${phone(2)},Ravi,Goa`),
				lines('city,Full Name,Mobile,phone_2', `Delhi,Zoya,${phone(3)},x`),
				lines('phone,Phone,person_name,city', `${phone(4)},${phone(5)},Farah,Agra`),
			];
			const items = [first, ...others.map((text, at) => fileItem(`${at}.csv`, text))];
			const { error, rejected } = await runPush(
				harness,
				items,
				csv({ otherColumns: 'listed', columnsToSend: 'city' }),
			);
			expect([error, rejected]).toEqual([undefined, []]);
			expect(contactsOf(bodies[0])).toEqual([
				{ phone: phone(1), person_name: 'Asha', city: 'Pune' },
				{ phone: phone(2), person_name: 'Ravi', city: 'Goa' },
				{ phone: phone(3), person_name: 'Zoya', city: 'Delhi' },
				{ phone: phone(4), person_name: 'Farah', city: 'Agra' },
			]);
		});

		test('send phone and name columns once, and other columns under their own names', async () => {
			const bodies = respondWith([200, accepted(2)]);
			const second = fileItem('b.csv', lines('Phone,phone,Name', `${phone(3)},${phone(2)},Ravi`));
			await runPush(harness, [first, second], csv());
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
				/^In 'Phone Column', enter .* The file "b\.csv" has: "name", "city"\. The first row/,
			],
			[
				'one has no header, and its first row no usable number',
				lines('12345,Ravi', `${phone(2)},Zoya`),
				'The file "b.csv" has no column "phone", so nothing was sent',
				/The first row of each file must name its columns\./,
			],
			[
				'one has no header',
				lines(`${phone(2)},Zoya`),
				'The first row of the file "b.csv" has a phone number, so the file probably has no header. Nothing was sent',
				/^Add a first row that names the columns/,
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
		])('are not sent if %s', async (_what, text, message, description) => {
			const { error } = await runPush(harness, [first, fileItem('b.csv', text)], csv());
			expect(error).toMatchObject({ message, description: expect.stringMatching(description) });
		});
	});

	test('are named if the push stops', async () => {
		respondWith([200, accepted(1)], [409, rejection('Campaign is archived')]);
		const { error } = await runPush(harness, files, {
			...csv(),
			developerSettings: { contactsPerRequest: 1 },
		});
		expect(error).toHaveProperty(
			'description',
			expect.stringMatching(
				/Pushed: 1 row \(row 2 of "b\.csv", contact list 501\)\.[^]*Not sent: 1 row \(row 3 of "b\.csv"\)\.[^]*Row numbers are as in a spreadsheet program\. The header is row 1\.$/,
			),
		);
	});

	test('are not sent if one cannot be read', async () => {
		const { error } = await runPush(harness, [...files, fileItem('c.csv', '')], csv());
		expect(error?.message).toBe('The file "c.csv" is empty, so nothing was sent');
	});
});

describe('nothing is sent, and the error explains why, if', () => {
	test.each<[string, string, NodeParameters, string, RegExp]>([
		[
			'the delimiter has two characters',
			'phone\n1\n',
			{ options: { delimiter: '||' } },
			'\'Delimiter\' must be a single character (got "||"). Nothing was sent',
			/such as ; or \\t/,
		],
		[
			'the encoding is unknown',
			'phone\n1\n',
			{ options: { encoding: 'klingon' } },
			expect.stringMatching(/^'Encoding' in 'Options' must be one of .* \(got "klingon"\)$/),
			/^Enter one of "automatic"/,
		],
		[
			'the field is another one',
			'phone\n1\n',
			{ binaryPropertyName: 'file' },
			'Item 0 has no file in field "file", so nothing was sent',
			/Input Binary Field.* The item has a file in "data"\.$/,
		],
	])('%s', async (_what, text, over, message, description) => {
		const { error } = await runPush(harness, [fileItem('a.csv', text)], csv(over));
		expect(error).toMatchObject({ message, description: expect.stringMatching(description) });
	});

	test.each([
		[
			{ phone: phone(1) },
			/The item has no file, but it has other data\. .* set 'Contacts From' to 'Input Items'\.$/,
		],
		[{}, /The item has no file\.$/],
	])('the item %j has no file', async (json, description) => {
		const { error } = await runPush(harness, [{ json }], csv());
		expect(error).toMatchObject({
			message: 'Item 0 has no file in field "data", so nothing was sent',
			description: expect.stringMatching(description),
		});
	});

	test('the node is a tool', async () => {
		const call = engineTool(harness.credentials, pushNode(harness, csv()), {
			data: newExecutionData(),
		});
		expect(await call({})).toMatchObject({
			outcome: 'not_sent',
			what_happened: "A tool can't read CSV files, so nothing was sent.",
		});
	});
});

describe('with Continue', () => {
	const goingOn = { onError: 'continueRegularOutput' } as const;

	test('Rejected lists the input item of an unreadable file', async () => {
		const item = fileItem('bad-quote.csv', contentOf('bad-quote.csv'));
		const { rejected } = await runPush(harness, [item], csv(), goingOn);
		expect(jsonOf(rejected)).toMatchObject([
			{
				note: 'bad-quote.csv',
				rejection_status: 'not_sent',
				rejection_reason: expect.stringMatching(/has a quote in row 3 that isn't closed/),
			},
		]);
	});
});

describe('Retry in the list of executions', () => {
	const text = ['phone', ...[0, 1, 2, 3, 4].map(phone)].join('\n');
	const bySize = csv({ developerSettings: { contactsPerRequest: 2 } });
	const first = fileItem('a.csv', text);
	const second = fileItem('b.csv', text.replace('phone', `phone\n${phone(9)}`), 'new');
	const both = [{ ...first, binary: { ...first.binary, ...second.binary } }];

	/** The first request is accepted, and the second one is rejected. */
	async function failed(items: INodeExecutionData[]) {
		const bodies = respondWith([200, accepted(2)], [409, rejection('Campaign is archived')]);
		const { workflow, start } = oneNodeWorkflow(pushNode(harness, bySize), ['Pushed', 'Rejected']);
		const run = await runWorkflow(harness.credentials, workflow, start, items, 'trigger');
		return { run, bodies };
	}
	async function retry(run: IRun, parameters: NodeParameters, over: Partial<INode> = {}) {
		const node = pushNode(harness, { ...bySize, ...parameters }, over);
		const { workflow } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
		return await retryFailed(harness.credentials, run, workflow);
	}

	test.each([
		['new', 6],
		['gone', 1],
	])('with another file of the item, reports no row as not_sent: %s', async (field, rows) => {
		const { run, bodies } = await failed(both);
		const over = { onError: 'continueRegularOutput' } as const;
		const again = await retry(run, { binaryPropertyName: field }, over);
		const statuses = output(again, 'Node', 1).map(({ json }) => json.rejection_status);
		expect(statuses).toEqual(Array.from({ length: rows }, () => 'unknown'));
		expect(sizes(bodies)).toEqual([2, 2]);
	});
});
