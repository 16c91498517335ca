/** *Retry* of a push after n8n was killed, so that nothing of it is stored but notes in n8n's database. */
import range from 'lodash/range';
import { type INode, type INodeExecutionData, type IRunExecutionData } from 'n8n-workflow';
import {
	oneNodeWorkflow,
	ParentExecution,
	resume,
	runKilled,
	runKilledAfter,
	storedCopy,
} from '../../engine';
import { readExample, recipesFolder } from '../../n8n/examples';
import {
	accepting,
	ARCHIVED,
	goOn,
	manyRows,
	OUTPUTS,
	outputsOf,
	phone,
	pushNode,
	rejection,
	scripted,
	type NodeParameters,
	type PushRun,
	butRequest,
	phones,
	pushHarness,
} from './pushHarness';

pushHarness();

const ONE_EACH = { options: { contactsPerRequest: 1 } };
type Rows = INodeExecutionData[];
const rowsOf = (...numbers: Array<number | '-'>): Rows =>
	numbers.map((n) => ({ json: { phone: n === '-' ? n : phone(n) } }));
const flow = (parameters: NodeParameters) => oneNodeWorkflow(pushNode(parameters, goOn), OUTPUTS);

/** Pushes with *Continue*, and is killed before n8n stores anything of it. */
async function kill(rows: Rows, parameters: NodeParameters = {}): Promise<IRunExecutionData> {
	const { workflow, start } = flow(parameters);
	return await runKilled(workflow, start, rows);
}

/** With the rows as they are read again. */
async function retry(
	killed: IRunExecutionData,
	parameters: NodeParameters = {},
	rows?: Rows,
): Promise<PushRun> {
	const data = storedCopy(killed);
	const [task] = data.executionData?.nodeExecutionStack ?? [];
	if (rows !== undefined && task !== undefined) task.data = { main: [rows] };
	return outputsOf(await resume(flow(parameters).workflow, data, 'retry'));
}

test('pushes no row again, and reports each as unknown', async () => {
	const sent = scripted();
	const { rejected, statuses } = await retry(await kill(manyRows(2)));
	expect(sent).toEqual([phones(0, 1)]);
	expect(statuses).toEqual(['0 unknown', '1 unknown']);
	expect(rejected[0]?.json.rejection_reason).toContain(
		'An earlier run or attempt of this execution may have sent this number',
	);
});

test('pushes all rows to another campaign, as retries.md says', async () => {
	const sent = scripted();
	const { statuses } = await retry(await kill(manyRows(2)), { campaignId: '43' });
	expect([sent.flat(), statuses]).toEqual([phones(0, 1, 0, 1), []]);
});

test.each([
	['rows of a push that began are unknown', manyRows(2), 'unknown'],
	['rows of a push that had not begun were not sent', [], 'not_sent'],
])("if the settings can't be read since an edit, %s", async (_what, begunWith, status) => {
	scripted();
	const edited = { phoneColumn: 'nowhere' };
	const { statuses } = await retry(await kill(begunWith), edited, manyRows(2));
	expect(statuses).toEqual([`0 ${status}`, `1 ${status}`]);
});

test('pushes the rows of later runs if n8n stored the first ones, as with Save Execution Progress', async () => {
	const sent = scripted();
	const { workflow } = flow({ options: { output: 'rows' } });
	const data = await runKilledAfter(
		workflow,
		'Node',
		[0, 1, 2].map((row) => rowsOf(row)),
		1,
	);
	const { runData } = (await resume(workflow, data, 'retry')).data.resultData;
	expect(sent).toEqual([phones(0), phones(1), phones(2)]);
	expect(runData.Node?.map((run) => run.data?.main?.map((items) => items?.length))).toEqual([
		[1, 0, 0],
		[0, 1, 0],
		[1, 0, 0],
	]);
});

test('pushes no row again that was sent as a part of a rejected request', async () => {
	const sent = scripted((numbers, request) =>
		request === 1 ? [400, rejection('contacts[3]')] : accepting(numbers, request),
	);
	const { statuses } = await retry(await kill(manyRows(4)));
	expect(sent.flat()).toEqual(phones(0, 1, 2, 3, 0, 1, 2, 3));
	expect(statuses).toEqual(range(4).map((row) => `${row} unknown`));
});

test('pushes other rows if the service had rejected the push', async () => {
	const sent = scripted((numbers, request) =>
		request === 1 ? ARCHIVED : accepting(numbers, request),
	);
	const { statuses } = await retry(await kill(manyRows(2)), {}, rowsOf(3));
	expect([sent, statuses]).toEqual([[phones(0, 1), phones(3)], []]);
});

describe('in a loop', () => {
	const INVALID = [rowsOf('-', '-'), rowsOf(0, 1)];
	const CAMPAIGNS = [42, 43].map((campaign, row) => [{ json: { phone: phone(row), campaign } }]);

	test.each<[string, Rows[], Rows[], { firstRun: number; pushed: number[]; unknown: number }]>([
		[
			'a push had only invalid rows, and rows moved to it',
			INVALID,
			[rowsOf(9, 0), rowsOf(1)],
			{ firstRun: 0, pushed: [0, 1, 9], unknown: 2 },
		],
		[
			'the runs have other numbers in the retry, because n8n restored others',
			[rowsOf(0, 1), rowsOf(2)],
			[rowsOf(0, 1), rowsOf(2), rowsOf(3)],
			{ firstRun: 1, pushed: [0, 1, 2, 3], unknown: 3 },
		],
		[
			'the campaigns come in another order',
			CAMPAIGNS,
			CAMPAIGNS.toReversed(),
			{ firstRun: 0, pushed: [0, 1], unknown: 2 },
		],
	])('pushes no row again if %s', async (_what, lists, now, expected) => {
		const { firstRun, pushed, unknown } = expected;
		const sent = scripted();
		const { workflow } = flow({ campaignId: '={{ $json.campaign ?? 42 }}' });
		const data = await runKilledAfter(workflow, 'Node', lists, lists.length - 1);
		const [task] = data.executionData?.nodeExecutionStack ?? [];
		if (data.executionData === undefined || task === undefined) throw new Error('nothing is left');
		const restored = data.resultData.runData.Node?.slice(0, firstRun) ?? [];
		data.resultData.runData = firstRun === 0 ? {} : { Node: restored };
		data.executionData.contextData = {};
		data.executionData.nodeExecutionStack = now.map((rows) => ({
			...task,
			data: { main: [rows] },
		}));
		const run = await resume(workflow, data, 'retry');
		const runs = run.data.resultData.runData.Node?.slice(firstRun) ?? [];
		const rejected = runs.flatMap((each) => each.data?.main?.[1] ?? []);
		expect(sent.flat()).toEqual(phones(...pushed));
		expect(rejected.map(({ json }) => json.push_status)).toEqual(Array(unknown).fill('unknown'));
	});
});

test.each<[string, Partial<INode>, Partial<PushRun>]>([
	['stop the node', {}, { pushed: [], statuses: [] }],
	['are in Rejected if On Error continues', goOn, { statuses: ['0 unknown'] }],
])('unknown rows %s, after all others were pushed', async (_what, over, expected) => {
	// Its rejection stops the first attempt, so that the third request never begins.
	const sent = scripted(butRequest(2, [401, 'no']));
	const killed = await kill(manyRows(3), ONE_EACH);
	const { workflow } = oneNodeWorkflow(pushNode(ONE_EACH, over), OUTPUTS);
	const run = outputsOf(await resume(workflow, storedCopy(killed), 'retry'));
	expect(sent.flat()).toEqual(phones(0, 1, 1, 2));
	expect(run).toMatchObject(expected);
	const told = [run.error?.message, run.error?.description, ...run.hints].join('\n');
	expect(told).toContain('1 row may or may not be in the campaign');
	expect(told).toContain('3 rows: 2 pushed, 1 unknown.');
});

test('of a parent with a sub-workflow per batch pushes no row again if a row was inserted above the others', async () => {
	const sent = scripted();
	const parent = new ParentExecution();
	for (const batch of [rowsOf(0, 1), rowsOf(2, 3)]) await parent.run(pushNode({}, goOn), batch);
	parent.retry();
	for (const batch of [rowsOf(9, 0), rowsOf(1, 2), rowsOf(3, 4)])
		await parent.run(pushNode({}, goOn), batch);
	expect(sent.flat()).toEqual(phones(0, 1, 2, 3, 9, 4));
});

test('with the recipe for sub-workflows, a number of an earlier sub-execution stops no batch', async () => {
	scripted();
	const { nodes } = readExample('push-in-a-sub-workflow.json', recipesFolder);
	const { onError } = nodes.find(({ type }) => /push/.test(type)) ?? {};
	const parent = new ParentExecution();
	await parent.run(pushNode({}, { onError }), rowsOf(0, 1));
	const { error, statuses } = outputsOf(await parent.run(pushNode({}, { onError }), rowsOf(1, 2)));
	expect([error, statuses]).toEqual([undefined, ['0 unknown']]);
});

test('two parents that started in the same millisecond push other numbers, and the same one is unknown', async () => {
	const sent = scripted();
	const at = Date.now();
	const [one, other] = [new ParentExecution(at), new ParentExecution(at)];
	const pushOf = async (parent: ParentExecution, row: number) =>
		outputsOf(await parent.run(pushNode({}, goOn), rowsOf(row))).statuses;
	expect(await pushOf(one, 0)).toEqual([]);
	expect(await pushOf(other, 1)).toEqual([]);
	expect(await pushOf(one, 1)).toEqual(['0 unknown']);
	expect(sent).toEqual([phones(0), phones(1)]);
});
