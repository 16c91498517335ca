import { ExecuteContext } from 'n8n-core';
import {
	NodeConnectionTypes,
	type INode,
	type INodeExecutionData,
	type IRun,
	type IRunExecutionData,
} from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import {
	engineHarness,
	hintsOf,
	makeNode,
	makeWorkflow,
	ParentExecution,
	runKilled,
	runKilledAfter,
	oneNodeWorkflow,
	output,
	resume,
	service,
	skipSleeps,
	storedCopy,
} from '../../engine';
import {
	accepted,
	respondWith,
	pushNode,
	PATH,
	manyRows,
	ok,
	phone,
	phonesOf,
	remembering,
	type NodeParameters,
} from './pushHarness';

engineHarness();
afterEach(() => jest.restoreAllMocks());
const ONE_EACH = { developerSettings: { contactsPerRequest: 1 } };
const flow = (over: NodeParameters, onError?: 'continueRegularOutput') =>
	oneNodeWorkflow(pushNode(over, { ...(onError && { onError }) }), ['Pushed', 'Rejected']);

/** Pushes, and is killed before n8n stores anything of it. */
async function kill(rows: INodeExecutionData[], over: NodeParameters): Promise<IRunExecutionData> {
	const { workflow, start } = flow(over, 'continueRegularOutput');
	return await runKilled(workflow, start, rows);
}

/** *Retry*, with the rows as they were or as they are read again. */
async function retry(
	begun: IRunExecutionData,
	over: NodeParameters,
	rows?: INodeExecutionData[],
	onError?: 'continueRegularOutput',
): Promise<IRun> {
	const data = storedCopy(begun);
	const [task] = data.executionData?.nodeExecutionStack ?? [];
	if (rows !== undefined && task !== undefined) task.data = { main: [rows] };
	return await resume(flow(over, onError).workflow, data, 'retry');
}

type Batches = INodeExecutionData[][];

const rowsOf = (...numbers: Array<number | '-'>) =>
	numbers.map((n) => ({ json: { phone: n === '-' ? n : phone(n) } }));

/**
 * Pushes each list in a run of the node, as in a loop, and is killed. *Retry* begins with the first list again.
 *
 * @param firstRun the number of the first run then. n8n can have restored runs that ended before.
 */
async function retryLoop(
	lists: Batches,
	now: Batches,
	{ over = {}, firstRun = 0 }: { over?: NodeParameters; firstRun?: number } = {},
) {
	const bodies: JsonObject[] = [];
	service()
		.post(/^\/v1\/campaigns\/4[23]\/contacts$/, remembering(bodies))
		.optionally()
		.times(9)
		.reply(200, () => accepted(phonesOf(bodies.at(-1)).length));
	const { workflow } = flow(over, 'continueRegularOutput');
	const data = await runKilledAfter(workflow, 'Node', lists, lists.length - 1);
	const [task] = data.executionData?.nodeExecutionStack ?? [];
	if (data.executionData === undefined || task === undefined) throw new Error('nothing to retry');
	const restored = data.resultData.runData.Node?.slice(0, firstRun) ?? [];
	data.resultData.runData = firstRun === 0 ? {} : { Node: restored };
	data.executionData.contextData = {};
	const tasks = now.map((items) => ({ ...task, data: { main: [items] } }));
	data.executionData.nodeExecutionStack = tasks;
	const run = await resume(workflow, data, 'retry');
	const runs = run.data.resultData.runData.Node?.slice(firstRun);
	const left = runs?.flatMap(({ data }) => data?.main?.[1] ?? []);
	return {
		pushed: bodies.flatMap(phonesOf),
		rejected: left?.map(({ json }) => json.rejection_status),
	};
}

const rejected = (run: IRun) => output(run, 'Node', 1).map(({ json }) => json.rejection_status);

describe('Retry after n8n was killed', () => {
	test('pushes no row again, and reports each as unknown', async () => {
		const bodies = respondWith(ok(2));
		const begun = await kill(manyRows(2), {});
		const run = await retry(begun, {});
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1)]);
		expect(rejected(run)).toEqual(['unknown', 'unknown']);
		expect(output(run, 'Node', 1)[0]?.json.rejection_reason).toContain(
			'An earlier attempt of this execution may have pushed this row',
		);
	});

	test('pushes the rows of rejected requests and later ones', async () => {
		const bodies = respondWith(ok(1), [401, 'no'], ok(1), ok(1));
		// The second request is rejected, so that the third never begins.
		const begun = await kill(manyRows(3), ONE_EACH);
		const run = await retry(begun, ONE_EACH);
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1), phone(1), phone(2)]);
		expect([output(run, 'Node').length, rejected(run)]).toEqual([2, ['unknown']]);
	});

	test('pushes all rows to another campaign, as retries.md says', async () => {
		const bodies = respondWith(ok(2));
		const begun = await kill(manyRows(2), {});
		service().post('/v1/campaigns/43/contacts', remembering(bodies)).reply(200, accepted(2));
		expect(rejected(await retry(begun, { campaignId: '43' }))).toEqual([]);
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 0, 1].map(phone));
	});

	test.each([
		['rows of a push that began are unknown', manyRows(2), 'unknown'],
		['rows of a push that had not begun were not sent', [], 'not_sent'],
	])("if the settings can't be read since an edit, %s", async (_what, begunWith, status) => {
		if (begunWith.length > 0) respondWith(ok(2));
		const begun = await kill(begunWith, {});
		const edited = { phoneColumn: 'nowhere' };
		const again = await retry(begun, edited, manyRows(2), 'continueRegularOutput');
		expect(rejected(again)).toEqual([status, status]);
	});

	test('pushes the rows of later runs if n8n stored the first ones, as with Save Execution Progress', async () => {
		const bodies = respondWith(ok(1), ok(1), ok(1));
		const { workflow } = flow({}, 'continueRegularOutput');
		const runs = manyRows(3).map((row) => [row]);
		const data = await runKilledAfter(workflow, 'Node', runs, 1);
		const { resultData } = (await resume(workflow, data, 'retry')).data;
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1), phone(2)]);
		const outputs = resultData.runData.Node?.map((run) =>
			run.data?.main?.map((items) => items?.length),
		);
		expect(outputs).toEqual([
			[1, 0, 0],
			[0, 1, 0],
			[1, 0, 0],
		]);
	});

	const INVALID = [rowsOf('-', '-'), rowsOf(0, 1)];
	const CAMPAIGNS = [42, 43].map((campaign, index) => [
		{ json: { phone: phone(index), campaign } },
	]);
	const byCampaign = { over: { campaignId: '={{ $json.campaign }}' } };
	const unknown = (count: number) => Array.from({ length: count }, () => 'unknown');

	test.each<[string, Batches, Batches, Parameters<typeof retryLoop>[2], number[], string[]]>([
		[
			'a push had only invalid rows, and rows moved to it',
			INVALID,
			[rowsOf(9, 0), rowsOf(1)],
			{},
			[0, 1],
			unknown(3),
		],
		[
			'the runs have other numbers in the retry',
			[rowsOf(0, 1), rowsOf(2)],
			[rowsOf(0, 1), rowsOf(2), rowsOf(3)],
			{ firstRun: 1 },
			[0, 1, 2, 3],
			unknown(3),
		],
		[
			'the campaigns come in another order',
			CAMPAIGNS,
			CAMPAIGNS.toReversed(),
			byCampaign,
			[0, 1],
			unknown(2),
		],
	])('in a loop, pushes no row again if %s', async (_what, lists, now, options, once, statuses) => {
		const { pushed, rejected } = await retryLoop(lists, now, options);
		expect(pushed).toEqual(once.map(phone));
		expect(rejected).toEqual(statuses);
	});
});

describe('unknown rows that nobody would see', () => {
	type Then = 'Next' | 'Disabled' | 'After' | undefined;

	/** *Retry* of a push that was killed in its second of three requests, with these nodes at its outputs. */
	async function retryWith(outputs: Then[], node: Partial<INode> = {}) {
		const bodies = respondWith(ok(1), [401, 'no'], ok(1), ok(1));
		const begun = await kill(manyRows(3), ONE_EACH);
		const to = (name: Then) => (name === undefined ? [] : [{ node: name, type, index: 0 }]);
		const type = NodeConnectionTypes.Main;
		const start = makeNode({ type: 'test.start', name: 'Start' });
		const push = pushNode(ONE_EACH, node);
		const others = ['Next', 'Disabled', 'After'].map((name) =>
			makeNode({ type: 'test.sink', name, disabled: name === 'Disabled' }),
		);
		const workflow = makeWorkflow([start, push, ...others], {
			Start: { main: [[{ node: 'Node', type, index: 0 }]] },
			Node: { main: outputs.map(to) },
			...(node.notes === 'leads on' && { Disabled: { main: [to('After')] } }),
		});
		const run = await resume(workflow, storedCopy(begun), 'retry');
		// The rows that had not begun are pushed in any case.
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1), phone(1), phone(2)]);
		return run;
	}

	test.each<[string, Then[]]>([
		['no node', []],
		['a node at Pushed', ['Next']],
		['a disabled node', [undefined, 'Disabled']],
	])(
		'stop the node when all others are pushed, if Rejected leads to %s only',
		async (_to, outputs) => {
			const { data } = await retryWith(outputs);
			expect(data.resultData.error).toMatchObject({
				message: "1 row may or may not be in the campaign, and no node reads 'Rejected'",
				description: expect.stringMatching(
					/^Connect 'Rejected' to a node, .* and retry this execution.*\n3 rows: 2 pushed, 1 unknown\.\nPushed: 2 rows \(rows 2 to 3, .*\nUnknown: 1 row \(row 1\)\./,
				),
			});
		},
	);

	test.each<[string, Then[], Partial<INode>]>([
		['a node', ['Next', 'Next'], {}],
		['a node behind a disabled one', [undefined, 'Disabled'], { notes: 'leads on' }],
	])('are returned if Rejected leads to %s', async (_to, outputs, node) => {
		const run = await retryWith(outputs, node);
		expect(run.data.resultData.error).toBeUndefined();
		expect([output(run, 'Node').length, rejected(run)]).toEqual([2, ['unknown']]);
	});

	test('are returned with a hint if On Error is set to continue', async () => {
		const run = await retryWith(['Next'], { onError: 'continueRegularOutput' });
		expect(run.data.resultData.error).toBeUndefined();
		expect([output(run, 'Node').length, rejected(run)]).toEqual([2, ['unknown']]);
		expect(hintsOf(run)).toContainEqual(expect.stringContaining("no node reads 'Rejected'"));
	});

	test('are reported to the error output if there is one', async () => {
		const outputs: Then[] = ['Next', undefined, undefined, 'Next'];
		const run = await retryWith(outputs, { onError: 'continueErrorOutput' });
		expect(run.data.resultData.error).toBeUndefined();
		expect(output(run, 'Node', 3).map(({ json }) => json.error)).toEqual([
			"1 row may or may not be in the campaign, and no node reads 'Rejected'",
		]);
	});

	test('stop the node if n8n does not tell which outputs are connected', async () => {
		const value = undefined;
		Object.defineProperty(ExecuteContext.prototype, 'getConnections', {
			value,
			configurable: true,
		});
		const { data } = await retryWith([undefined, 'Next']);
		Reflect.deleteProperty(ExecuteContext.prototype, 'getConnections');
		expect(data.resultData.error?.message).toContain("no node reads 'Rejected'");
	});
});

/** The parent of the sub-workflows is killed, and retried. Returns the numbers that were pushed. */
async function retryParent(batches: Batches, batchesOfRetry: Batches): Promise<unknown[]> {
	skipSleeps();
	const bodies: JsonObject[] = [];
	service()
		.post(PATH, remembering(bodies))
		.optionally()
		.times(batches.length + batchesOfRetry.length)
		.reply(200, accepted(2));
	const parent = new ParentExecution();
	const node = pushNode({}, { onError: 'continueRegularOutput' });
	for (const batch of batches) await parent.run(node, batch);
	parent.retry();
	for (const batch of batchesOfRetry) await parent.run(node, batch);
	return bodies.flatMap(phonesOf);
}

test.each<[string, Batches, Batches, number[]]>([
	[
		'no row again if a row was inserted above the others',
		[rowsOf(0, 1), rowsOf(2, 3)],
		[rowsOf(9, 0), rowsOf(1, 2), rowsOf(3, 4)],
		[0, 1, 2, 3],
	],
	[
		'the batches that had not begun, if the rows are the same',
		[rowsOf(0, 1)],
		[rowsOf(0, 1), rowsOf(2, 3)],
		[0, 1, 2, 3],
	],
])('a retry with a sub-workflow per batch pushes %s', async (_what, batches, now, once) => {
	expect(await retryParent(batches, now)).toEqual(once.map(phone));
});
