import type { INode, INodeExecutionData, IRun } from 'n8n-workflow';
import { engineHarness, makeNode, makeWorkflow, runWorkflow, service } from '../../engine';
import { skipSleeps } from '../../engine/time';
import {
	accepted,
	respondWith,
	respondInto,
	breaking,
	goOn,
	pushNode,
	manyRows,
	ok,
	phone,
	phonesOf,
	type NodeParameters,
	type Reply,
} from './pushHarness';

engineHarness();
beforeEach(() => skipSleeps());
afterEach(() => jest.restoreAllMocks());
const to = (node: string) => ({ node, type: 'main' as const, index: 0 });

/** Two branches that lead to one Push node. n8n runs it once for each, as in a loop. */
function twoBranches(own: Partial<INode> = {}, parameters: NodeParameters = {}) {
	const start = makeNode({ type: 'test.start', name: 'Start' });
	const branch = makeNode({ type: 'test.sink', name: 'Branch' });
	const nodes = [start, branch, pushNode(parameters, { position: [0, 100], ...own })];
	const workflow = makeWorkflow(nodes, {
		Start: { main: [[to('Branch'), to('Node')]] },
		Branch: { main: [[to('Node')]] },
	});
	return { workflow, start };
}

const runs = (run: IRun, index: number): INodeExecutionData[][] =>
	(run.data.resultData.runData.Node ?? []).map((each) => each.data?.main?.[index] ?? []);

describe('another node of the workflow', () => {
	/** Two Push nodes with the same rows. */
	function twoNodes(whatToDo: string) {
		const start = makeNode({ type: 'test.start', name: 'Start' });
		const first = pushNode({}, { ...goOn, position: [0, 0] });
		const other = pushNode({ whatToDo }, { id: 'other', name: 'Other', position: [0, 100] });
		const nodes = [start, first, other];
		const workflow = makeWorkflow(nodes, { Start: { main: [[to('Node'), to('Other')]] } });
		return { workflow, start };
	}

	test.each(['wait', 'release'])(
		'(%s) does not push a number that may be in the campaign',
		async (whatToDo) => {
			const bodies = breaking('ECONNRESET');
			const { workflow, start } = twoNodes(whatToDo);
			const run = await runWorkflow(workflow, start, manyRows(1));
			expect(bodies.flatMap(phonesOf)).toEqual([phone(0)]);
			expect(run.data.resultData.error?.message).toBe(
				"1 row may or may not be in the campaign, and no node reads 'Rejected'",
			);
		},
	);

	test('does not call it ready', async () => {
		breaking('ECONNRESET');
		const { workflow, start } = twoNodes('check');
		const data = { campaign: { id: 42, status: 'Active' }, calls: {}, uploads: [] };
		service().get('/v1/campaigns/42/status').reply(200, { success: true, data });
		const run = await runWorkflow(workflow, start, manyRows(1));
		const left = run.data.resultData.runData.Other?.[0]?.data?.main?.[1] ?? [];
		expect(left.map(({ json }) => json.rejection_status)).toEqual(['unknown']);
	});
});

describe('a node that runs several times in an execution', () => {
	test('pushes a number once, and rejects it in later runs', async () => {
		const bodies = respondWith(ok(2));
		const { workflow, start } = twoBranches();
		const run = await runWorkflow(workflow, start, manyRows(2));
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1)]);
		expect(runs(run, 0).map((items) => items.length)).toEqual([1, 0]);
		const [, left = []] = runs(run, 1);
		expect(left.map(({ json }) => json.rejection_status)).toEqual(['duplicate', 'duplicate']);
		expect(left[0]?.json.rejection_reason).toBe(
			"This number was pushed to the campaign earlier in this execution or session, so it wasn't pushed again.",
		);
	});

	test('shows no phone_sent for a number that an earlier run sent', async () => {
		respondWith(ok(1));
		const { workflow, start } = twoBranches({}, { options: { output: 'rows' } });
		const [, left = []] = runs(await runWorkflow(workflow, start, manyRows(1)), 1);
		expect(left.map(({ json }) => json)).toMatchObject([
			{ push_status: 'duplicate', phone_sent: null, phone_key: `91${phone(0)}` },
		]);
	});

	test.each<[string, Reply | undefined, string, requests: number]>([
		['whose outcome is unknown', undefined, 'unknown', 1],
		[
			'that the service skipped as a duplicate',
			[200, accepted(1, { engine_skipped_duplicates: [phone(0)] })],
			'duplicate',
			1,
		],
		['on the do-not-disturb list', [200, accepted(1, { dnd_skipped: [phone(0)] })], 'pushed', 2],
		['that was rejected', [401, 'no'], 'pushed', 2],
	])('then treats a number %s', async (_which, response, status, requests) => {
		const bodies = response === undefined ? breaking('ECONNRESET') : respondWith(response);
		if (requests > 1) respondInto(bodies, ok(1));
		const { workflow, start } = twoBranches(goOn);
		const run = await runWorkflow(workflow, start, manyRows(1));
		expect(bodies.flatMap(phonesOf)).toEqual(Array(requests).fill(phone(0)));
		const [, left = []] = runs(run, 1);
		expect(left.map(({ json }) => json.rejection_status)).toEqual(
			status === 'pushed' ? [] : [status],
		);
	});
});
