/** Several runs of Push nodes in an execution. */
import {
	createRunExecutionData,
	type INode,
	type INodeExecutionData,
	type IRun,
	type ITaskData,
} from 'n8n-workflow';
import { PUSH_LIMITS } from '../../../nodes/PushCampaignContacts/push/rows';
import { makeNode, makeWorkflow, oneNodeWorkflow, resume, runWorkflow } from '../../engine';
import {
	accepted,
	ARCHIVED,
	BROKEN,
	fileItem,
	goOn,
	inTwos,
	jsonOf,
	manyRows,
	OUTPUTS,
	phone,
	push,
	pushNode,
	runPush,
	scripted,
	type NodeParameters,
	type Reply,
	butRequest,
	campaign,
	phones,
	pushHarness,
} from './pushHarness';

pushHarness();
const to = (node: string) => ({ node, type: 'main' as const, index: 0 });
const rejectedBy = (task: ITaskData | undefined) => task?.data?.main?.[1] ?? [];
const statusesOf = (items: INodeExecutionData[]) => items.map(({ json }) => json.rejection_status);

describe('another node of the workflow with the same rows', () => {
	async function runBoth(whatToDo: string): Promise<IRun> {
		const start = makeNode({ type: 'test.start', name: 'Start' });
		const first = pushNode({}, { ...goOn, position: [0, 0] });
		const other = pushNode({ whatToDo }, { id: 'other', name: 'Other', position: [0, 100] });
		const workflow = makeWorkflow([start, first, other], {
			Start: { main: [[to('Node'), to('Other')]] },
		});
		return await runWorkflow(workflow, start, manyRows(1));
	}

	test.each(['wait', 'release'])(
		'(%s) does not push a number that may be in the campaign',
		async (whatToDo) => {
			const sent = scripted(() => BROKEN);
			const { error } = (await runBoth(whatToDo)).data.resultData;
			expect(sent).toEqual([phones(0)]);
			expect(error?.message).toBe(
				"1 row may or may not be in the campaign, and no node reads 'Rejected'",
			);
		},
	);

	test('does not call such a number ready', async () => {
		scripted(() => BROKEN);
		campaign();
		const { runData } = (await runBoth('check')).data.resultData;
		expect(statusesOf(rejectedBy(runData.Other?.[0]))).toEqual(['unknown']);
	});
});

describe('a node that runs several times in an execution', () => {
	/** Runs the node once for each list, as in a loop. */
	async function loop(
		lists: INodeExecutionData[][],
		parameters: NodeParameters = {},
		over: Partial<INode> = goOn,
	) {
		const node = pushNode(parameters, over);
		const tasks = lists.map((rows) => ({ node, data: { main: [rows] }, source: null }));
		const data = createRunExecutionData({ executionData: { nodeExecutionStack: tasks } });
		const run = await resume(oneNodeWorkflow(node, OUTPUTS).workflow, data);
		return run.data.resultData.runData.Node ?? [];
	}

	test('pushes a number once, and rejects it in later runs', async () => {
		const sent = scripted();
		const options = { output: 'rows' };
		const [first, second] = await loop([manyRows(2), manyRows(2)], { options });
		expect(sent).toEqual([phones(0, 1)]);
		expect([first, second].map((task) => task?.data?.main?.[0]?.length)).toEqual([2, 0]);
		expect(jsonOf(rejectedBy(second))).toMatchObject(
			[0, 1].map((row) => ({
				push_status: 'duplicate',
				rejection_status: 'duplicate',
				rejection_reason:
					"This number was pushed to the campaign earlier in this execution or session, so it wasn't pushed again.",
				phone_sent: null,
				phone_key: `91${phone(row)}`,
			})),
		);
	});

	test.each<[string, Reply | Error, string[], requests: number]>([
		['whose outcome is unknown', BROKEN, ['unknown'], 1],
		[
			'that the service skipped as a duplicate',
			[200, accepted(1, { engine_skipped_duplicates: [phone(0)] })],
			['duplicate'],
			1,
		],
		['on the do-not-disturb list', [200, accepted(1, { dnd_skipped: [phone(0)] })], [], 2],
		['that was rejected', [401, 'no'], [], 2],
	])('then treats a number %s', async (_which, reply, statuses, requests) => {
		const sent = scripted(butRequest(1, reply));
		const [, second] = await loop([manyRows(1), manyRows(1)]);
		expect(sent).toEqual(Array(requests).fill(phones(0)));
		expect(statusesOf(rejectedBy(second))).toEqual(statuses);
	});

	test('with Retry On Fail, does not call a number of an earlier run unknown', async () => {
		const sent = scripted(butRequest(2, BROKEN));
		const tryAgain = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const over = { onError: 'continueErrorOutput', ...tryAgain } as const;
		const [, second] = await loop([manyRows(1), manyRows(2)], {}, over);
		expect(statusesOf(rejectedBy(second))).toEqual(['duplicate', 'unknown']);
		expect(sent).toEqual([phones(0), phones(1)]);
	});

	test('pushes again what it cannot remember, but no number whose outcome is unknown', async () => {
		jest.replaceProperty(PUSH_LIMITS, 'numbers', 2);
		const sent = scripted(butRequest(2, BROKEN));
		const runs = await loop([manyRows(3), manyRows(3), manyRows(1), manyRows(1)], inTwos);
		expect(sent).toEqual([phones(0, 1), phones(2), phones(0, 1), phones(0)]);
		const statuses = runs.map((run) => statusesOf(rejectedBy(run)));
		expect(statuses).toEqual([['unknown'], ['unknown'], [], ['duplicate']]);
	});

	test('remembers no number of a push with more than it can remember', async () => {
		jest.replaceProperty(PUSH_LIMITS, 'numbers', 2);
		const sent = scripted();
		await loop([manyRows(3), manyRows(3), manyRows(1), manyRows(1)]);
		expect(sent).toEqual([phones(0, 1, 2), phones(0, 1, 2), phones(0)]);
	});

	test('remembers the new numbers among those that it remembers', async () => {
		jest.replaceProperty(PUSH_LIMITS, 'numbers', 3);
		const sent = scripted();
		await loop([manyRows(2), manyRows(3), manyRows(3)]);
		expect(sent).toEqual([phones(0, 1), phones(2)]);
	});

	test('reports no row as not sent that an earlier run pushed', async () => {
		scripted(butRequest(2, ARCHIVED));
		const one = { developerSettings: { contactsPerRequest: 1 } };
		const [, second] = await loop([manyRows(1), manyRows(2).reverse()], one);
		expect(statusesOf(rejectedBy(second))).toEqual(['not_sent', 'duplicate']);
	});
});

describe('Execute Once, with which n8n passes only the first of several items', () => {
	const ONCE = { executeOnce: true };
	const rows = manyRows(3);
	const file = (row: number) => fileItem(`${row}.csv`, `phone\n${phone(row)}\n`);
	const json = (contacts: string): NodeParameters => ({ contactsFrom: 'json', contacts });
	const ALL = json('={{ $input.all().map((item) => item.json) }}');

	test.each<[string, INodeExecutionData[], NodeParameters]>([
		['rows', rows, {}],
		['files', [file(0), file(1), file(2)], { contactsFrom: 'csv' }],
		['contacts in JSON of each item', rows, json('={{ [$json] }}')],
		['rows that differ in a field', rows, { whatToDo: '={{ $json.release }}' }],
	])('does not push %s without the others', async (_what, input, parameters) => {
		const { error } = await runPush(input, parameters, ONCE);
		expect(error).toMatchObject({
			message: "'Execute Once' is on, so this node would only use the first of 3 items",
			description:
				"Turn it off in 'Settings'. To use only the first item on purpose, add a Limit node before this one.",
		});
	});

	test('with Continue, returns the row that n8n passed on in Rejected with the reason', async () => {
		const { rejected, statuses } = await push(3, {}, ONCE);
		expect(statuses).toEqual(['0 not_sent']);
		expect(rejected[0]?.json.rejection_reason).toContain('of 3 items');
	});

	test.each<[string, INodeExecutionData[], NodeParameters, number[]]>([
		['a single row', rows.slice(0, 1), {}, [0]],
		['a single file', [file(0)], { contactsFrom: 'csv' }, [0]],
		['the same contacts for all items', rows, json(`[{ "phone": "${phone(7)}" }]`), [7]],
		['all items in JSON', rows, ALL, [0, 1, 2]],
	])('pushes %s, because nothing is left out', async (_what, input, parameters, expected) => {
		const sent = scripted();
		expect((await runPush(input, parameters, ONCE)).error).toBeUndefined();
		expect(sent).toEqual([phones(...expected)]);
	});

	test('is not needed to push all items in JSON once', async () => {
		const sent = scripted();
		const { pushed, statuses } = await push(2, ALL);
		expect(sent).toEqual([phones(0, 1)]);
		expect([pushed.length, statuses]).toEqual([1, []]);
	});
});
