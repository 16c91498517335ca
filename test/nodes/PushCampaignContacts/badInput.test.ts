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
} from './pushHarness';

const harness = engineHarness();
const rows = rowsOf({ phone: '9876543210', city: 'Pune' }, { phone: '9123456789', city: 'Delhi' });
const agent = (value: string) => ({ __rl: true, mode: 'id', value });

type Case = [name: string, parameters: NodeParameters, message: RegExp, advice: RegExp];
const settings: Case[] = [
	[
		'a name as campaign ID',
		{ campaignId: 'Spring' },
		/must be a whole number \(got "Spring"\)/,
		/42/,
	],
	[
		'an agent without agent_',
		{ agentUuid: agent('={{ "5f2c" }}') },
		/must be an agent ID \(got "5f2c"\)/,
		/"agent_"/,
	],
	[
		'an unclear release',
		{ enqueue: '={{ "yes" }}' },
		/^'Release to Calling Queue' must be true or false.*"yes"/,
		/use the switch/,
	],
	[
		'an empty phone column',
		{ phoneColumn: '={{ "" }}' },
		/^'Phone Column' is empty/,
		/Enter the name/,
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
