import { randomUUID } from 'node:crypto';
import type { INode, INodeExecutionData, IRun } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import {
	engineHarness,
	engineTool,
	makeNode,
	makeWorkflow,
	mcpTool,
	retryFailed,
	runWorkflow,
	service,
} from '../../engine';
import { skipSleeps } from '../../engine/time';
import {
	accepted,
	respondWith,
	respondInto,
	breaking,
	pushNode,
	manyRows,
	phone,
	phonesOf,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();
beforeEach(() => skipSleeps());
afterEach(() => jest.restoreAllMocks());
const ok = (count: number): [number, ReturnType<typeof accepted>] => [200, accepted(count)];
const to = (node: string) => ({ node, type: 'main' as const, index: 0 });

/** Two branches that lead to one Push node. n8n runs it once for each, as in a loop. */
function twoBranches(
	over: NodeParameters = {},
	settings: Partial<INode> = {},
	own: Partial<INode> = {},
) {
	const start = makeNode({ type: 'test.start', name: 'Start' });
	const branch = makeNode({ type: 'test.sink', name: 'Branch', ...settings });
	const nodes = [start, branch, pushNode(harness, over, { position: [0, 100], ...own })];
	const workflow = makeWorkflow(nodes, {
		Start: { main: [[to('Branch'), to('Node')]] },
		Branch: { main: [[to('Node')]] },
	});
	return { workflow, start };
}

const runs = (run: IRun, index: number): INodeExecutionData[][] =>
	(run.data.resultData.runData.Node ?? []).map((each) => each.data?.main?.[index] ?? []);

describe('a node that runs several times in an execution', () => {
	test('pushes a number once, and rejects it in later runs', async () => {
		const bodies = respondWith(ok(2));
		const { workflow, start } = twoBranches();
		const run = await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1)]);
		expect(runs(run, 0).map((items) => items.length)).toEqual([1, 0]);
		const [, left = []] = runs(run, 1);
		expect(left.map(({ json }) => json.rejection_status)).toEqual(['duplicate', 'duplicate']);
		expect(left[0]?.json.rejection_reason).toBe(
			"An earlier run of this node in this execution pushed this number to the campaign, so it wasn't pushed again.",
		);
	});

	test('pushes the rows of a later run that are new', async () => {
		const bodies = respondWith(ok(1), ok(1));
		const { workflow, start } = twoBranches({}, { executeOnce: true });
		await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		expect(bodies.flatMap(phonesOf).sort()).toEqual([phone(0), phone(1)]);
	});

	test.each<[string, [number, JsonObject | string] | undefined, string, requests: number]>([
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
		const each = { onError: 'continueRegularOutput' } as const;
		const { workflow, start } = twoBranches({}, {}, each);
		const run = await runWorkflow(harness.credentials, workflow, start, manyRows(1));
		expect(bodies.flatMap(phonesOf)).toEqual(Array(requests).fill(phone(0)));
		const [, left = []] = runs(run, 1);
		expect(left.map(({ json }) => json.rejection_status)).toEqual(
			status === 'pushed' ? [] : [status],
		);
	});

	test('remembers the numbers in a retry of the execution', async () => {
		const bodies = respondWith(ok(1), [401, 'no'], ok(1));
		const { workflow, start } = twoBranches({}, { executeOnce: true });
		const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		await retryFailed(harness.credentials, failed, workflow);
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1), phone(1)]);
	});
});

describe('the requests of a model', () => {
	const contacts = "={{ $fromAI('contacts', '', 'json') }}";
	const tool = () => pushNode(harness, { contactsFrom: 'json', contacts });
	const list = (...indexes: number[]) => ({
		contacts: indexes.map((index) => ({ phone: phone(index) })),
	});
	const routes = {
		'an AI Agent': () => engineTool(harness.credentials, tool()),
		'an MCP client': () => mcpTool(harness.credentials, tool(), randomUUID()),
	};

	test.each(Object.entries(routes))(
		'%s pushes a number once, in any list',
		async (_route, open) => {
			const call = open();
			const bodies = respondWith(ok(2), ok(1));
			expect(await call(list(0, 1))).toMatchObject({ outcome: 'done' });
			for (const other of [list(1, 0), list(1), list(0), list(0, 1, 1)]) {
				expect(await call(other)).toMatchObject({ outcome: 'already_done' });
			}
			const { outcome, result } = await call(list(2, 1));
			expect(outcome).toBe('done');
			expect(result).toMatchObject({
				rejected: [
					{
						phone: phone(1),
						rejection_status: 'duplicate',
						rejection_reason:
							'This number is in the campaign already. It was pushed before in this agent run or MCP session, and not again.',
					},
				],
			});
			expect(bodies.map(phonesOf)).toEqual([[phone(0), phone(1)], [phone(2)]]);
		},
	);

	test.each(Object.entries(routes))(
		'%s does not push a number again whose outcome is unknown',
		async (_route, open) => {
			const call = open();
			breaking('ECONNRESET');
			expect(await call(list(0, 1))).toMatchObject({ outcome: 'unknown' });
			for (const other of [list(1, 0), list(1), list(0)]) {
				expect(await call(other)).toMatchObject({ outcome: 'unknown' });
			}
			const bodies = respondWith(ok(1));
			expect(await call(list(0, 2))).toMatchObject({ outcome: 'partly_done' });
			expect(bodies.map(phonesOf)).toEqual([[phone(2)]]);
		},
	);

	test('pushes again to another campaign, in another agent run, and in another session', async () => {
		const bodies = respondWith(ok(1), ok(1), ok(1));
		service().post('/v1/campaigns/43/contacts').reply(200, accepted(1));
		const campaign = "={{ $fromAI('campaign', '') }}";
		const ofModel = pushNode(harness, { contactsFrom: 'json', contacts, campaignId: campaign });
		const call = engineTool(harness.credentials, ofModel);
		for (const id of ['42', '43']) {
			expect(await call({ ...list(0), campaign: id })).toMatchObject({ outcome: 'done' });
		}
		await engineTool(harness.credentials, tool(), { run: 1 })(list(0));
		await mcpTool(harness.credentials, tool(), 'another session')(list(0));
		expect(bodies).toHaveLength(3);
	});
});
