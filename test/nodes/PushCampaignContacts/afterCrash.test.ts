import type { INodeExecutionData, IRun, IRunExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import {
	engineHarness,
	runKilled,
	runKilledAfter,
	oneNodeWorkflow,
	output,
	resume,
	retryFailed,
	runWorkflow,
	service,
	skipSleeps,
	storedCopy,
} from '../../engine';
import {
	accepted,
	respondWith,
	respondInto,
	pushNode,
	manyRows,
	PATH,
	phone,
	phonesOf,
	remembering,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();
afterEach(() => jest.restoreAllMocks());
const ONE_EACH = { developerSettings: { contactsPerRequest: 1 } };
const ok = (count: number): [number, ReturnType<typeof accepted>] => [200, accepted(count)];
const flow = (over: NodeParameters, onError?: 'continueRegularOutput') =>
	oneNodeWorkflow(pushNode(harness, over, { ...(onError && { onError }) }), ['Pushed', 'Rejected']);

/** Pushes, and is killed before n8n stores anything of it. */
async function kill(rows: INodeExecutionData[], over: NodeParameters): Promise<IRunExecutionData> {
	const { workflow, start } = flow(over, 'continueRegularOutput');
	return await runKilled(harness.credentials, workflow, start, rows);
}

/** *Retry*, with the rows as they were or as they are read again. */
async function retry(
	begun: IRunExecutionData,
	over: NodeParameters,
	rows?: INodeExecutionData[],
): Promise<IRun> {
	const data = storedCopy(begun);
	const [task] = data.executionData?.nodeExecutionStack ?? [];
	if (rows !== undefined && task !== undefined) task.data = { main: [rows] };
	return await resume(harness.credentials, flow(over).workflow, data, 'retry');
}

const rowsOf = (...numbers: Array<number | '-'>) =>
	numbers.map((n) => ({ json: { phone: n === '-' ? n : phone(n) } }));

/**
 * Pushes each list in a run of the node, as in a loop, and is killed. *Retry* begins with the first list again.
 *
 * @param firstRun the number of the first run then. n8n can have restored runs that ended before.
 */
async function retryLoop(
	lists: INodeExecutionData[][],
	now: INodeExecutionData[][],
	{ over = {}, firstRun = 0 }: { over?: NodeParameters; firstRun?: number } = {},
) {
	const bodies: JsonObject[] = [];
	service()
		.post(/^\/v1\/campaigns\/4[23]\/contacts$/, remembering(bodies))
		.optionally()
		.times(9)
		.reply(200, () => accepted(phonesOf(bodies.at(-1)).length));
	const { workflow } = flow(over, 'continueRegularOutput');
	const data = await runKilledAfter(harness.credentials, workflow, 'Node', lists, lists.length - 1);
	const [task] = data.executionData?.nodeExecutionStack ?? [];
	if (data.executionData === undefined || task === undefined) throw new Error('nothing to retry');
	const restored = data.resultData.runData.Node?.slice(0, firstRun) ?? [];
	data.resultData.runData = firstRun === 0 ? {} : { Node: restored };
	data.executionData.contextData = {};
	const tasks = now.map((items) => ({ ...task, data: { main: [items] } }));
	data.executionData.nodeExecutionStack = tasks;
	const run = await resume(harness.credentials, workflow, data, 'retry');
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
		expect(rejected(run)).toEqual(['unknown']);
		expect(output(run, 'Node')).toHaveLength(2);
	});

	test("if n8n's database fails after the retry found the push, its rows are unknown", async () => {
		skipSleeps();
		const bodies = respondWith(ok(2));
		const begun = await kill(manyRows(2), {});
		skipSleeps();
		let hasFoundPush = false;
		harness.store.beforeCall = (call) => {
			if (call.startsWith('remove')) hasFoundPush = true;
			else if (hasFoundPush) throw new Error('database is locked');
		};
		const { workflow } = flow({}, 'continueRegularOutput');
		const run = await resume(harness.credentials, workflow, storedCopy(begun), 'retry');
		expect(bodies).toHaveLength(1);
		expect(rejected(run)).toEqual(['unknown', 'unknown']);
	});

	test('a row that a stored attempt reports as rejected stays rejected, and the others of its request stay pushed', async () => {
		const isRejected = { success: false, error: 'contacts[0].city is invalid' };
		const bodies = respondWith([400, isRejected], [400, isRejected], ok(1), [401, 'no'], ok(1));
		const inTwos = { developerSettings: { contactsPerRequest: 2 } };
		const { workflow, start } = flow(inTwos);
		const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(3));
		const again = await retryFailed(harness.credentials, failed, workflow);
		expect(bodies.map(phonesOf)).toEqual(
			[[0, 1], [0], [1], [2], [2]].map((rows) => rows.map(phone)),
		);
		expect([output(again, 'Node').length, rejected(again)]).toEqual([2, ['rejected']]);
	});

	test('after two retries whose requests were rejected, the rows are pushed', async () => {
		const bodies = respondWith([401, 'no'], [401, 'no'], [401, 'no'], ok(2));
		const { workflow, start } = flow({});
		let run = await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		for (let count = 1; count <= 3; count++) {
			run = await retryFailed(harness.credentials, run, workflow);
		}
		expect([run.data.resultData.error, bodies.length]).toEqual([undefined, 4]);
	});

	test('pushes nothing if the rows changed, also when the same execution is retried twice', async () => {
		const bodies = respondWith(ok(2));
		const begun = await kill(manyRows(2), {});
		for (let attempt = 1; attempt <= 2; attempt++) {
			const { error } = (await retry(begun, {}, manyRows(3))).data.resultData;
			expect(error?.message).toContain("the node can't know which rows it pushed");
		}
		expect(bodies).toHaveLength(1);
	});

	test('of a push with other rows, invalid rows are rejected, and the others are unknown', async () => {
		respondWith(ok(2));
		const begun = await kill(manyRows(2), {});
		const { error } = (await retry(begun, {}, rowsOf(5, '-'))).data.resultData;
		expect(error?.message).toContain("the node can't know which rows it pushed");
		expect(error?.description).toMatch(/Unknown: 1 row \(row 1\)[^]*Rejected: 1 row \(row 2\)/);
	});

	test.each([
		['Continue', 'continueRegularOutput'],
		['Stop', undefined],
	] as const)(
		"if the settings can't be read since an edit, rows of a push that began are unknown (%s)",
		async (_which, onError) => {
			const bodies = respondWith(ok(2));
			const begun = await kill(manyRows(2), {});
			const { workflow } = flow({ phoneColumn: 'nowhere' }, onError);
			const run = await resume(harness.credentials, workflow, storedCopy(begun), 'retry');
			expect(bodies).toHaveLength(1);
			const { error } = run.data.resultData;
			if (onError === undefined) expect(error?.description).toContain('Unknown: 2 rows');
			else expect(rejected(run)).toEqual(['unknown', 'unknown']);
		},
	);

	test("if the settings can't be read and no push had begun, rows were not sent", async () => {
		const begun = await kill([], {});
		const { workflow } = flow({ phoneColumn: 'nowhere' }, 'continueRegularOutput');
		const data = storedCopy(begun);
		const [task] = data.executionData?.nodeExecutionStack ?? [];
		if (task !== undefined) task.data = { main: [manyRows(2)] };
		const run = await resume(harness.credentials, workflow, data, 'retry');
		expect(rejected(run)).toEqual(['not_sent', 'not_sent']);
	});

	test('pushes the rows of later runs if n8n stored the first ones, as with Save Execution Progress', async () => {
		const bodies = respondWith(ok(1), ok(1), ok(1));
		const { workflow } = flow({}, 'continueRegularOutput');
		const runs = manyRows(3).map((row) => [row]);
		const data = await runKilledAfter(harness.credentials, workflow, 'Node', runs, 1);
		const { resultData } = (await resume(harness.credentials, workflow, data, 'retry')).data;
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1), phone(2)]);
		const outputs = resultData.runData.Node?.map((run) =>
			run.data?.main?.map((items) => items?.length),
		);
		expect(outputs).toEqual([
			[1, 0],
			[0, 1],
			[1, 0],
		]);
	});

	test('pushes the rows to another campaign', async () => {
		respondWith(ok(2));
		const begun = await kill(manyRows(2), {});
		service().post('/v1/campaigns/43/contacts').reply(200, accepted(2));
		const run = await retry(begun, { campaignId: '43' });
		expect([output(run, 'Node').length, rejected(run)]).toEqual([1, []]);
	});

	test('two retries at the same moment, one of them with requests of another size, push each row once', async () => {
		const bodies = respondWith([401, 'no']);
		const { workflow, start } = flow({});
		const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		service().post(PATH, remembering(bodies)).optionally().times(4).reply(200, accepted(2));
		const other = flow(
			{ developerSettings: { contactsPerRequest: 100 } },
			'continueRegularOutput',
		).workflow;
		const [, again] = await Promise.all(
			[workflow, other].map(async (now) => await retryFailed(harness.credentials, failed, now)),
		);
		expect(bodies).toHaveLength(2);
		expect(again && rejected(again)).toEqual(['unknown', 'unknown']);
	});

	test('each attempt of Retry On Fail reports the noted rows, and pushes none of them', async () => {
		const bodies = respondWith(ok(1), [401, 'no']);
		const over = { developerSettings: { contactsPerRequest: 1 } };
		const begun = await kill(manyRows(4), over);
		respondInto(bodies, ok(1), [401, 'no'], ok(1), [401, 'no'], ok(1));
		const node = pushNode(harness, over, { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 });
		const { workflow } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
		const data = storedCopy(begun);
		const [task] = data.executionData?.nodeExecutionStack ?? [];
		if (task !== undefined) task.node = node;
		const run = await resume(harness.credentials, workflow, data, 'retry');
		expect(rejected(run)).toEqual(['unknown']);
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 1, 2, 2, 3, 3].map(phone));
	});

	test.each([
		['invalid rows', [rowsOf('-', '-'), rowsOf(0, 1)], [rowsOf(9, 0), rowsOf(1)], [0, 1]],
		[
			'rows that an earlier push sent',
			[rowsOf(5), rowsOf(5), rowsOf(0, 1)],
			[rowsOf(5), rowsOf(0, 8), rowsOf(1)],
			[5, 0, 1],
		],
		[
			'rows that an earlier push sent, which is later now',
			[rowsOf(5, 6), rowsOf(5), rowsOf(7)],
			[rowsOf(7), rowsOf(5), rowsOf(5, 6)],
			[5, 6, 7],
		],
	])(
		'in a loop that had a push with only %s, rows that moved to it are not pushed again',
		async (_which, lists, moved, once) => {
			const { pushed, rejected } = await retryLoop(lists, moved);
			expect(pushed).toEqual(once.map(phone));
			expect(new Set(rejected)).toEqual(new Set(['unknown']));
		},
	);

	test('in a loop that had a push with only invalid rows, the retry pushes the rows of later pushes', async () => {
		const lists = [rowsOf('-', '-'), rowsOf(0, 1)];
		const { pushed, rejected } = await retryLoop(lists, [...lists, rowsOf(2)]);
		expect(pushed).toEqual([0, 1, 2].map(phone));
		expect(rejected).toEqual(['rejected', 'rejected', 'unknown', 'unknown']);
	});

	test('in a loop whose runs have other numbers in the retry, pushes the remaining rows', async () => {
		const lists = [rowsOf(0, 1), rowsOf(2)];
		const { pushed, rejected } = await retryLoop(lists, [...lists, rowsOf(3)], { firstRun: 1 });
		expect(pushed).toEqual([0, 1, 2, 3].map(phone));
		expect(rejected).toEqual(['unknown', 'unknown', 'unknown']);
	});

	test('in a loop over campaigns, pushes no row again if they come in another order', async () => {
		const lists = [42, 43].map((campaign, index) => [{ json: { phone: phone(index), campaign } }]);
		const over = { campaignId: '={{ $json.campaign }}' };
		const { pushed, rejected } = await retryLoop(lists, lists.toReversed(), { over });
		expect(pushed).toEqual([0, 1].map(phone));
		expect(rejected).toEqual(['unknown', 'unknown']);
	});

	test('an execution that ended normally leaves no record', async () => {
		respondWith(ok(1), [400, { success: false, error: 'no' }]);
		const { workflow, start } = flow(ONE_EACH);
		await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		expect(harness.store.size).toBe(0);
	});
});
