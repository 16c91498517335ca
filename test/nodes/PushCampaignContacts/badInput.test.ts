import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { engineHarness, output } from '../../engine';
import {
	accepted,
	respondWith,
	runPush,
	jsonOf,
	phonesOf,
	rowsOf,
	type NodeParameters,
	WAITING,
} from './pushHarness';

const harness = engineHarness();
const rows = rowsOf({ phone: '9876543210', city: 'Pune' }, { phone: '9123456789', city: 'Delhi' });
const agent = (value: string) => ({ __rl: true, mode: 'id', value });

type Case = [name: string, parameters: NodeParameters, message: RegExp, advice: RegExp];
const settings: Case[] = [
	['no campaign ID', { campaignId: '={{ "" }}' }, /^'Campaign' is empty/, /Enter only the number/],
	[
		'a name as campaign ID',
		{ campaignId: 'Spring' },
		/must be a whole number \(got "Spring"\)/,
		/42/,
	],
	[
		'a fraction as campaign ID',
		{ campaignId: 4.2 },
		/\(got "4.2"\)/,
		/Enter only the number of the campaign, such as 42/,
	],
	[
		'a negative campaign ID',
		{ campaignId: '-3' },
		/\(got "-3"\)/,
		/Enter only the number of the campaign, such as 42/,
	],
	[
		'an address as campaign ID',
		{ campaignId: 'https://x/42' },
		/\(got "https:/,
		/Enter only the number/,
	],
	[
		'an agent without agent_',
		{ agentUuid: agent('={{ "5f2c" }}') },
		/must be an agent ID \(got "5f2c"\)/,
		/"agent_"/,
	],
	['no agent', { agentUuid: agent('={{ "" }}') }, /^'Agent' is empty/, /Choose the agent/],
	[
		'an unclear release',
		{ enqueue: '={{ "yes" }}' },
		/^'Release to Calling Queue' must be true or false.*"yes"/,
		/use the switch/,
	],
	[
		'no phone column',
		{ phoneColumn: 'Mobil' },
		/no column "Mobil"/,
		/The input has: "phone", "city"/,
	],
	[
		'an empty phone column',
		{ phoneColumn: '={{ "" }}' },
		/^'Phone Column' is empty/,
		/Enter the name/,
	],
	['no name column', { personNameColumn: 'Lead' }, /no column "Lead"/, /Person Name Column/],
	[
		'a missing column to send',
		{ otherColumns: 'listed', columnsToSend: 'city, plan' },
		/no column "plan"/,
		/Columns to Send/,
	],
	[
		'no column to send',
		{ otherColumns: 'listed', columnsToSend: ' , ' },
		/^'Columns to Send' is empty/,
		/Other Columns/,
	],
	...[0, 10_001, 2.5].map(
		(contactsPerRequest): Case => [
			`${contactsPerRequest} contacts per request`,
			{ developerSettings: { contactsPerRequest } },
			/^'Contacts per Request' must be a whole number from 1 to 10,000/,
			/^Correct the number/,
		],
	),
	[
		"additional fields that aren't JSON",
		{ developerSettings: { additionalBodyFields: '{ source: sheet' } },
		/^'Additional Body Fields' must be a JSON object/,
		/curly brackets/,
	],
];

describe('invalid settings: nothing is sent', () => {
	test.each(settings)('%s', async (_name, parameters, message, advice) => {
		const { error } = await runPush(harness, rows, parameters);
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message: expect.stringMatching(message),
			description: expect.stringMatching(advice),
			context: { itemIndex: 0 },
		});
	});

	test('with Continue, Rejected lists every row', async () => {
		const { error, pushed, rejected } = await runPush(
			harness,
			rows,
			{ campaignId: 'Spring' },
			{
				onError: 'continueRegularOutput',
			},
		);
		expect(error).toBeUndefined();
		expect(pushed).toEqual([]);
		expect(rejected).toEqual(
			rows.map(({ json }, index) => ({
				json: {
					...json,
					rejection_status: 'not_sent',
					rejection_reason: expect.stringMatching(/must be a whole number \(got "Spring"\)/),
				},
				pairedItem: { item: index },
			})),
		);
	});

	test('with the error output, it gets one item', async () => {
		const { pushed, rejected, run } = await runPush(
			harness,
			rows,
			{ campaignId: 'Spring' },
			{ onError: 'continueErrorOutput' },
		);
		const errors = output(run, 'Node', 2);
		expect(pushed).toEqual([]);
		expect(rejected).toHaveLength(2);
		expect(jsonOf(errors)).toEqual([
			{
				error: expect.stringMatching(/^'Campaign' must be a whole number/),
				message: expect.stringMatching(/^Enter only the number/),
				details: expect.objectContaining({ received: 2, pushed: 0, not_sent: 2 }),
			},
		]);
	});
});

test('two possible phone columns: nothing is sent', async () => {
	const { error } = await runPush(
		harness,
		rowsOf({ Mobile: '9876543210', 'Phone No': '9123456789' }),
	);
	expect(error?.message).toBe(
		'Several columns match "phone": "Mobile", "Phone No". Nothing was sent',
	);
});

describe('an empty push', () => {
	test('sends nothing and shows a hint', async () => {
		const pushed = await runPush(harness, rowsOf({}));
		expect(pushed).toMatchObject({ pushed: [], rejected: [], error: undefined });
		expect(pushed.hints).toEqual(['No rows to push. Nothing was sent.']);
	});

	test('has a summary with zeros', async () => {
		const { pushed } = await runPush(harness, rowsOf({}), { options: { output: 'summary' } });
		expect(pushed[0]?.json).toMatchObject({ contacts_received: 0, enqueued: false });
	});

	test('fails if the input is a file instead of rows', async () => {
		const file: INodeExecutionData = {
			json: {},
			binary: { data: { data: '', mimeType: 'text/csv', fileName: 'leads.csv' } },
		};
		const { error } = await runPush(harness, [file]);
		expect(error?.message).toMatch(/^The input is a file, not rows/);
	});
});

describe('rows that cannot be used', () => {
	test('are rejected once, paired with their items, and the others are pushed', async () => {
		const bodies = respondWith([200, accepted(4)]);
		const { pushed, rejected, hints } = await runPush(
			harness,
			rowsOf(
				{ phone: '9.87654321E+09', id: 0 },
				{ id: 1 },
				{ phone: 9.123456789e9, id: 2 },
				{ phone: '9.88E+09', id: 3 },
				{ phone: '9876543219.0', id: 4 },
				{ phone: 'n/a', id: 5 },
				{ phone: '+91 1123456789', id: 6 },
			),
		);
		expect(phonesOf(bodies[0])).toEqual([
			'9876543210',
			'9123456789',
			'9876543219',
			'+911123456789',
		]);
		expect(pushed[0]?.json.totals).toMatchObject({ received: 7, pushed: 4, rejected: 3 });
		expect(rejected).toEqual([
			{
				json: {
					id: 1,
					rejection_status: 'rejected',
					rejection_reason: 'This row has no phone number.',
				},
				pairedItem: { item: 1 },
			},
			{
				json: {
					phone: '9.88E+09',
					id: 3,
					rejection_status: 'rejected',
					rejection_reason: expect.stringMatching(/its last digits are lost.*as text/),
				},
				pairedItem: { item: 3 },
			},
			{
				json: {
					phone: 'n/a',
					id: 5,
					rejection_status: 'rejected',
					rejection_reason: expect.stringMatching(/^"n\/a" isn't a phone number/),
				},
				pairedItem: { item: 5 },
			},
		]);
		expect(hints).toEqual([
			`7 rows: 4 pushed, 3 rejected. ${WAITING} The 'Rejected' output shows the reason for each row.`,
		]);
	});

	test('an item without JSON is rejected, and the others are pushed', async () => {
		const bodies = respondWith([200, accepted(1)]);
		const file = z.custom<INodeExecutionData>().parse({ binary: {} });
		const { rejected } = await runPush(harness, [...rowsOf({ phone: '9876543210' }), file]);
		expect(jsonOf(rejected)).toMatchObject([
			{ rejection_status: 'rejected', rejection_reason: 'This row has no phone number.' },
		]);
		expect(bodies.map(phonesOf)).toEqual([['9876543210']]);
	});

	test('if no row is left, nothing is sent, and Rejected lists all', async () => {
		const { pushed, rejected, error, hints } = await runPush(
			harness,
			rowsOf({ phone: '123' }, { phone: '' }),
		);
		expect(error).toBeUndefined();
		expect(pushed).toEqual([]);
		expect(rejected).toHaveLength(2);
		expect(hints).toEqual([
			"2 rows: 0 pushed, 2 rejected. The 'Rejected' output shows the reason for each row.",
		]);
	});

	test('a column named error does not send a row to the error output', async () => {
		const { rejected } = await runPush(
			harness,
			rowsOf({ phone: '98765', error: 'bounced' }),
			{},
			{ onError: 'continueErrorOutput' },
		);
		expect(rejected[0]?.json).toMatchObject({ phone: '98765', error: 'bounced' });
	});
});
