import { NodeConnectionTypes, type INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { engineHarness, hintsOf, makeNode, makeWorkflow, output, runWorkflow } from '../../engine';
import {
	accepted,
	goOn,
	respondWith,
	runPush,
	jsonOf,
	pushNode,
	phonesOf,
	rowsOf,
	type NodeParameters,
} from './pushHarness';

engineHarness();
const rows = rowsOf({ phone: '9876543210', city: 'Pune' }, { phone: '9123456789', city: 'Delhi' });
const NO_CAMPAIGN = { campaignId: 'Spring' };

describe('invalid settings: nothing is sent', () => {
	test.each<[NodeParameters, message: RegExp, advice: RegExp]>([
		[NO_CAMPAIGN, /must be a whole number \(got "Spring"\)/, /42/],
		[{ phoneColumn: '={{ "" }}' }, /^'Phone Column' is empty/, /Enter the name/],
		[
			{ otherColumns: 'listed', columnsToSend: ' , ' },
			/^'Columns to Send' is empty/,
			/Other Columns/,
		],
		...[0, 10_001, 2.5].map((contactsPerRequest): [NodeParameters, RegExp, RegExp] => [
			{ developerSettings: { contactsPerRequest } },
			/^'Contacts per Request' must be a whole number from 1 to 10,000/,
			/^Correct the number/,
		]),
	])('%j', async (parameters, message, advice) => {
		const { error } = await runPush(rows, parameters);
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message: expect.stringMatching(message),
			description: expect.stringMatching(advice),
			context: { itemIndex: undefined },
		});
	});

	test('with Continue, Rejected lists every row', async () => {
		const { error, pushed, rejected } = await runPush(rows, NO_CAMPAIGN, goOn);
		expect([error, pushed]).toEqual([undefined, []]);
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
		const over = { onError: 'continueErrorOutput' } as const;
		const { pushed, rejected, run } = await runPush(rows, NO_CAMPAIGN, over);
		expect([pushed.length, rejected.length]).toEqual([0, 2]);
		expect(jsonOf(output(run, 'Node', 2))).toEqual([
			{
				error: expect.stringMatching(/^'Campaign' must be a whole number/),
				message: expect.stringMatching(/^Enter only the number/),
				details: expect.objectContaining({ received: 2, pushed: 0, not_sent: 2 }),
			},
		]);
	});
});

test('an empty input sends nothing and shows a hint', async () => {
	const pushed = await runPush(rowsOf({}));
	expect(pushed).toMatchObject({ pushed: [], rejected: [], error: undefined });
	expect(pushed.hints).toEqual(['No rows to push. Nothing was sent.']);
});

test('files without any row are an error', async () => {
	const file = { data: '', mimeType: 'text/csv', fileName: 'leads.csv' };
	const { error } = await runPush([{ json: {}, binary: { data: file } }]);
	expect(error).toMatchObject({
		message: 'The input has files, but no rows, so nothing was sent',
		description: expect.stringMatching(/CSV File.*Extract from File/),
	});
});

test.each([
	['n8n-nodes-base.splitInBatches', true],
	['test.sink', false],
])('a push of nobody after %s has the hint that a loop ends there: %p', async (type, says) => {
	const node = pushNode();
	const start = makeNode({ type: 'test.start', name: 'Start' });
	const before = makeNode({ type, name: 'Before' });
	const to = { node: node.name, type: NodeConnectionTypes.Main, index: 0 };
	const connections = { Start: { main: [[to]] }, Before: { main: [[to]] } };
	const workflow = makeWorkflow([start, before, node], connections);
	const run = await runWorkflow(workflow, start, rowsOf({ phone: '12' }));
	expect(
		hintsOf(run).some((hint) => hint.startsWith("'Pushed' is empty, so Loop Over Items")),
	).toBe(says);
});

describe('rows that cannot be used', () => {
	test('an item without JSON is rejected, and the others are pushed', async () => {
		const bodies = respondWith([200, accepted(1)]);
		const file = z.custom<INodeExecutionData>().parse({ binary: {} });
		const { rejected } = await runPush([...rowsOf({ phone: '9876543210' }), file]);
		expect(jsonOf(rejected)).toMatchObject([
			{ rejection_status: 'rejected', rejection_reason: 'The phone column of this row is empty.' },
		]);
		expect(bodies.map(phonesOf)).toEqual([['9876543210']]);
	});

	test('if no row is left, nothing is sent, and Rejected lists all, also one with a column named error', async () => {
		const { pushed, rejected, error, hints } = await runPush(
			rowsOf({ phone: '123', error: 'bounced' }, { phone: '' }),
			{},
			{ onError: 'continueErrorOutput' },
		);
		expect([error, pushed]).toEqual([undefined, []]);
		expect(jsonOf(rejected)).toMatchObject([{ phone: '123', error: 'bounced' }, { phone: '' }]);
		expect(hints).toEqual([
			"2 rows: 0 pushed, 2 rejected. The 'Rejected' output shows the reason for each row.",
		]);
	});
});
