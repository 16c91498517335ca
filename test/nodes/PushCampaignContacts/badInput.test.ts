import { NodeConnectionTypes, type INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import {
	engineHarness,
	hintsOf,
	makeNode,
	makeWorkflow,
	output,
	runWorkflow,
	service,
	skipSleeps,
} from '../../engine';
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
const CAMPAIGN = '/v1/campaigns/42/status';
const toErrors = { onError: 'continueErrorOutput' } as const;
afterEach(() => jest.restoreAllMocks());

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

	const errorOf = (item: number) => ({
		error: expect.stringMatching(/must be a whole number \(got "Spring"\)$/),
		message: expect.stringMatching(/^Enter only the number/),
		details: { item, outcome: 'not_sent' },
	});

	test('with Continue, Rejected has each item with its error', async () => {
		const { error, pushed, rejected } = await runPush(rows, NO_CAMPAIGN, goOn);
		expect([error, pushed]).toEqual([undefined, []]);
		expect(rejected).toEqual(
			rows.map(({ json }, item) => ({
				json: {
					...json,
					rejection_status: 'not_sent',
					rejection_reason: expect.stringMatching(/must be .* \(got "Spring"\)\. Enter only/),
					push_status: 'not_sent',
					...errorOf(item),
				},
				pairedItem: { item },
			})),
		);
	});

	test('with the error output, it has each item with its error', async () => {
		const { pushed, rejected, run } = await runPush(rows, NO_CAMPAIGN, toErrors);
		expect([pushed, rejected]).toEqual([[], []]);
		expect(jsonOf(output(run, 'Node', 3))).toEqual(
			rows.map(({ json }, item) => ({ ...json, ...errorOf(item) })),
		);
	});

	test('with the error output, Retry On Fail runs the node again', async () => {
		const active = { success: true, data: { campaign: { id: 42, status: 'Active' } } };
		service().get(CAMPAIGN).reply(404).get(CAMPAIGN).reply(200, active);
		const over = { ...toErrors, retryOnFail: true, waitBetweenTries: 1 };
		const { pushed, run } = await runPush(rows, { whatToDo: 'check' }, over);
		expect([pushed.length, output(run, 'Node', 3)]).toEqual([1, []]);
	});

	test('if the campaign cannot be read, nothing was sent', async () => {
		service().get(CAMPAIGN).times(4).reply(503);
		skipSleeps();
		const parameters = { options: { skipPushedBefore: true } };
		const { rejected } = await runPush(rows.slice(1), parameters, goOn);
		expect(jsonOf(rejected)).toMatchObject([
			{ error: expect.stringMatching(/503/), details: { outcome: 'not_sent' } },
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
		expect(hints).toEqual(['2 rows: 0 pushed, 2 rejected.']);
	});
});
