import type { INodeExecutionData, IRun, IRunExecutionData } from 'n8n-workflow';
import fc from 'fast-check';
import chunk from 'lodash/chunk';
import isEqual from 'lodash/isEqual';
import partition from 'lodash/partition';
import uniq from 'lodash/uniq';
import type { DeduplicationStore } from '../../../nodes/shared/deduplicationStore';
import { OutcomeUnknown } from '../../../nodes/shared/api/errors';
import type { JsonObject } from '../../../nodes/shared/json';
import { WriteAheadLog } from '../../../nodes/shared/n8n/idempotency/writeAheadLog';
import {
	isRowsMemory,
	type PushLog,
	type RowsMemory,
} from '../../../nodes/PushCampaignContacts/push/begunPush';
import {
	BegunRows,
	type BegunRowsOptions,
} from '../../../nodes/PushCampaignContacts/push/begunRows';
import { KeysByRow, PhonesByRow } from '../../../nodes/PushCampaignContacts/push/phonesByRow';
import { AllRows } from '../../../nodes/PushCampaignContacts/push/rowQueue';
import { RowSet } from '../../../nodes/PushCampaignContacts/push/rowSet';
import {
	engineHarness,
	runKilled,
	runKilledAfter,
	retryKilled,
	oneNodeWorkflow,
	output,
	resume,
	retryFailed,
	runDataOf,
	runWorkflow,
	service,
	skipSleeps,
	storedCopy,
} from '../../engine';
import { Killed, KillableStore } from '../shared/numberLists/killableStore';
import {
	accepted,
	answering,
	answeringInto,
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
const ONE_EACH = { options: { contactsPerRequest: 1 } };
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

/** Pushes each list in a run of the node, as in a loop, and is killed. *Retry* begins with the first list again. */
async function retryLoop(lists: INodeExecutionData[][], now: INodeExecutionData[][]) {
	const bodies: JsonObject[] = [];
	service()
		.post(PATH, remembering(bodies))
		.optionally()
		.times(9)
		.reply(200, () => accepted(phonesOf(bodies.at(-1)).length));
	const { workflow } = flow({}, 'continueRegularOutput');
	const data = await runKilledAfter(harness.credentials, workflow, 'Node', lists, lists.length - 1);
	const [task] = data.executionData?.nodeExecutionStack ?? [];
	if (data.executionData === undefined || task === undefined) throw new Error('nothing to retry');
	data.resultData.runData = {};
	data.executionData.contextData = {};
	const tasks = now.map((items) => ({ ...task, data: { main: [items] } }));
	data.executionData.nodeExecutionStack = tasks;
	const run = await resume(harness.credentials, workflow, data, 'retry');
	const left = run.data.resultData.runData.Node?.flatMap(({ data }) => data?.main?.[1] ?? []);
	return {
		pushed: bodies.flatMap(phonesOf),
		rejected: left?.map(({ json }) => json.rejection_status),
	};
}

const rejected = (run: IRun) => output(run, 'Node', 1).map(({ json }) => json.rejection_status);

describe('Retry after n8n was killed', () => {
	test('pushes no row again, and reports each as unknown', async () => {
		const bodies = answering(ok(2));
		const begun = await kill(manyRows(2), {});
		const run = await retry(begun, {});
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1)]);
		expect(rejected(run)).toEqual(['unknown', 'unknown']);
		expect(output(run, 'Node', 1)[0]?.json.rejection_reason).toContain(
			'An earlier attempt of this execution may have pushed this row',
		);
	});

	test('pushes the rows of rejected requests and later ones', async () => {
		const bodies = answering(ok(1), [401, 'no'], ok(1), ok(1));
		// The second request is rejected, so that the third never begins.
		const begun = await kill(manyRows(3), ONE_EACH);
		const run = await retry(begun, ONE_EACH);
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1), phone(1), phone(2)]);
		expect(rejected(run)).toEqual(['unknown']);
		expect(output(run, 'Node')).toHaveLength(2);
	});

	test.each([
		['Continue', 'continueRegularOutput'],
		['Stop', undefined],
	] as const)(
		'if the retry stops before rows that the killed attempt pushed, they are unknown (%s)',
		async (_which, onError) => {
			const isRejected = { success: false, error: 'contacts[0].city is invalid' };
			const bodies = answering([400, isRejected], ok(1), ok(1));
			const begun = await kill(manyRows(3), ONE_EACH);
			answeringInto(bodies, [401, 'no']);
			const { workflow } = flow(ONE_EACH, onError);
			const run = await resume(harness.credentials, workflow, storedCopy(begun), 'retry');
			expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 2, 0].map(phone));
			const { error } = run.data.resultData;
			if (onError === undefined) expect(error?.description).toContain('Unknown: 2 rows');
			else expect(rejected(run)).toEqual(['not_sent', 'unknown', 'unknown']);
		},
	);

	test("if n8n's database fails after the retry found the push, its rows are unknown", async () => {
		skipSleeps();
		const bodies = answering(ok(2));
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

	test('a row that a stored retry reports as rejected is unknown if a killed one has pushed it since', async () => {
		const isRejected = { success: false, error: 'contacts[0].city is invalid' };
		answering([401, 'no'], [400, isRejected], [401, 'no'], ok(1), ok(1));
		const begun = await kill(manyRows(2), ONE_EACH);
		jest.restoreAllMocks();
		const { workflow } = flow(ONE_EACH);
		const stored = await resume(harness.credentials, workflow, storedCopy(begun), 'retry');
		await retryKilled(harness.credentials, { data: storedCopy(begun) }, workflow);
		jest.restoreAllMocks();
		const now = flow(ONE_EACH, 'continueRegularOutput').workflow;
		const again = await retryFailed(harness.credentials, stored, now);
		expect(rejected(again)).toEqual(['unknown', 'unknown']);
	});

	test('a row that a stored retry reports as rejected stays rejected if the retry pushed others of its request', async () => {
		const isRejected = { success: false, error: 'contacts[0].city is invalid' };
		const bodies = answering([401, 'no'], [400, isRejected], ok(1), [401, 'no'], ok(1));
		const inTwos = { options: { contactsPerRequest: 2 } };
		const begun = await kill(manyRows(3), inTwos);
		jest.restoreAllMocks();
		const stored = await retry(begun, inTwos);
		const now = flow(inTwos, 'continueRegularOutput').workflow;
		const again = await retryFailed(harness.credentials, stored, now);
		expect(bodies.slice(2).flatMap(phonesOf)).toEqual([1, 2, 2].map(phone));
		expect(rejected(again)).toEqual(['rejected']);
	});

	test('in a loop, too, a row that a stored retry reports as rejected stays rejected', async () => {
		const isRejected = { success: false, error: 'contacts[0].city is invalid' };
		const bodies = answering(ok(1), [401, 'no'], [400, isRejected], ok(1), [401, 'no'], ok(1));
		const { workflow, start } = flow({ options: { contactsPerRequest: 2 } });
		const data = runDataOf(start, []);
		const node = workflow.getNode('Node');
		if (data.executionData === undefined || node === null) throw new Error('nothing to execute');
		data.executionData.nodeExecutionStack = [rowsOf(0), rowsOf(1, 2, 3)].map((items) => ({
			node,
			data: { main: [items] },
			source: null,
		}));
		const first = await resume(harness.credentials, workflow, data);
		const second = await retryFailed(harness.credentials, first, workflow);
		const now = flow({ options: { contactsPerRequest: 2 } }, 'continueRegularOutput').workflow;
		expect(rejected(await retryFailed(harness.credentials, second, now))).toEqual(['rejected']);
		expect(bodies.slice(3).flatMap(phonesOf)).toEqual([2, 3, 3].map(phone));
	});

	test.each([
		['and was stored', [3, 3, 3], false],
		['and was killed', [3, 3, 3], true],
		['with requests of another size', [3, 2, 3], false],
		['with requests of another size, and is retried with this size', [3, 4, 4], false],
	])(
		'a rejected row is unknown if another retry with another form pushed it %s',
		async (_how, sizes, isKilled) => {
			const [first, second, third] = sizes.map((contactsPerRequest) => ({
				options: { contactsPerRequest },
			}));
			const isRejected = { success: false, error: 'contacts[0].city is invalid' };
			const bodies = answering([400, isRejected], ok(2), [401, 'no'], ok(2));
			const { workflow, start } = flow({ ...first });
			const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(4));
			const edited = flow({ otherColumns: 'none', ...second }).workflow;
			await (isKilled ? retryKilled : retryFailed)(harness.credentials, failed, edited);
			jest.restoreAllMocks();
			expect(bodies.slice(3).flatMap(phonesOf)).toEqual([phone(0), phone(3)]);
			const now = flow({ ...third }, 'continueRegularOutput').workflow;
			const again = await retryFailed(harness.credentials, failed, now);
			expect([rejected(again), bodies.length]).toEqual([['unknown', 'unknown'], 4]);
		},
	);

	test('a number on the do-not-disturb list is unknown if another retry with other contacts pushed it', async () => {
		const skipped = accepted(2, { contacts_accepted: 1, dnd_skipped: [{ phone: phone(0) }] });
		const bodies = answering([200, skipped], [401, 'no'], ok(3));
		const contacts = (...numbers: number[]) => ({
			contactsFrom: 'json',
			contacts: JSON.stringify(numbers.map((number) => ({ phone: phone(number) }))),
			options: { contactsPerRequest: 2 },
		});
		const { workflow, start } = flow(contacts(0, 1, 2));
		const failed = await runWorkflow(harness.credentials, workflow, start, [{ json: {} }]);
		const edited = flow({ ...contacts(3, 0, 2), options: {} }).workflow;
		await retryFailed(harness.credentials, failed, edited);
		expect(bodies.slice(2).flatMap(phonesOf)).toEqual([3, 0, 2].map(phone));
		const now = flow(contacts(0, 1, 2), 'continueRegularOutput').workflow;
		expect(rejected(await retryFailed(harness.credentials, failed, now))).toEqual([
			'unknown',
			'unknown',
		]);
	});

	test('of two retries at the same moment with other requests, the one that stops reports no row as rejected', async () => {
		const isRejected = { success: false, error: 'contacts[0].city is invalid' };
		const bodies = answering([400, isRejected], [401, 'no'], ok(2));
		const { workflow, start } = flow({});
		const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		const edited = flow({ otherColumns: 'none' }).workflow;
		const smaller = flow({ options: { contactsPerRequest: 1 } }, 'continueRegularOutput').workflow;
		const [, stopped] = await Promise.all(
			[edited, smaller].map(async (now) => await retryFailed(harness.credentials, failed, now)),
		);
		expect(bodies.slice(2).flatMap(phonesOf)).toEqual([0, 1].map(phone));
		expect(stopped && rejected(stopped)).toEqual(['unknown', 'unknown']);
	});

	test('of two retries at the same moment with other requests, the rows of the one that stopped are not pushed by a third', async () => {
		const bodies = answering([401, 'no']);
		const { workflow, start } = flow({});
		const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(3));
		service().post(PATH, remembering(bodies)).optionally().times(9).reply(200, accepted(1));
		const other = flow({ options: { contactsPerRequest: 1 } }, 'continueRegularOutput').workflow;
		for (const retries of [[workflow, other], [other]]) {
			await Promise.all(
				retries.map(async (now) => await retryFailed(harness.credentials, failed, now)),
			);
		}
		expect(bodies.slice(1).flatMap(phonesOf)).toEqual([0, 1, 2].map(phone));
	});

	describe('of a stored retry that pushed some rows of a request and reports the others as not sent', () => {
		const TOO_LARGE: [number, string] = [413, 'Request Entity Too Large'];
		const STOPPED: [number, string] = [401, 'no'];
		const again = async (failed: IRun) =>
			await retryFailed(harness.credentials, failed, flow({}).workflow);
		/** Rows 0 and 1 are pushed, 2 and 3 aren't. */
		async function pushHalf() {
			const bodies = answering(STOPPED, TOO_LARGE, ok(2), STOPPED);
			const { workflow, start } = flow({});
			const first = await runWorkflow(harness.credentials, workflow, start, manyRows(4));
			const second = await again(first);
			expect(second.data.resultData.error?.description).toMatch(
				/\nPushed: 2 rows[^]*\nNot sent: 2 rows/,
			);
			return { second, pushed: () => bodies.slice(4).map(phonesOf), bodies };
		}

		test('pushes the others', async () => {
			const { second, pushed, bodies } = await pushHalf();
			answeringInto(bodies, ok(2));
			const third = await again(second);
			expect([third.data.resultData.error, rejected(third)]).toEqual([undefined, []]);
			expect(pushed()).toEqual([[2, 3].map(phone)]);
		});

		test('pushes them later, if it fails, too', async () => {
			const { second, pushed, bodies } = await pushHalf();
			answeringInto(bodies, STOPPED, TOO_LARGE, ok(1), STOPPED, ok(1));
			const fourth = await again(await again(second));
			expect(rejected(await again(fourth))).toEqual([]);
			expect(pushed().at(-1)).toEqual([phone(3)]);
		});

		test('pushes none of them if another retry pushed one of them and was killed', async () => {
			const { second, pushed, bodies } = await pushHalf();
			answeringInto(bodies, TOO_LARGE, ok(1), STOPPED);
			await retryKilled(harness.credentials, second, flow({}).workflow);
			for (let count = 1; count <= 2; count++) {
				expect(rejected(await again(second))).toEqual(['unknown', 'unknown']);
			}
			expect(pushed()).toHaveLength(3);
		});

		test('of two retries at the same moment, only one pushes them', async () => {
			const { second, pushed, bodies } = await pushHalf();
			service().post(PATH, remembering(bodies)).optionally().times(4).reply(200, accepted(2));
			const both = await Promise.all([again(second), again(second)]);
			expect(pushed()).toEqual([[2, 3].map(phone)]);
			expect(both.flatMap(rejected)).toEqual(['unknown', 'unknown']);
		});
	});

	test('pushes nothing if the rows changed, and reports them as unknown', async () => {
		answering(ok(2));
		const begun = await kill(manyRows(2), {});
		const { error } = (await retry(begun, {}, manyRows(3))).data.resultData;
		expect(error?.message).toContain("the node can't know which rows it pushed");
		expect(error?.description).toContain('Unknown: 3 rows (items 0 to 2)');
	});

	test('pushes nothing if the rows changed, also when the same execution is retried twice', async () => {
		const bodies = answering(ok(2));
		const begun = await kill(manyRows(2), {});
		for (let attempt = 1; attempt <= 2; attempt++) {
			const { error } = (await retry(begun, {}, manyRows(3))).data.resultData;
			expect(error?.message).toContain("the node can't know which rows it pushed");
		}
		expect(bodies).toHaveLength(1);
	});

	test.each([
		['some', ['9876543210', '-']],
		['all', ['-', '-']],
	])(
		'of a push with other rows, rows that are invalid now are unknown (%s)',
		async (_which, phones) => {
			answering(ok(2));
			const begun = await kill(manyRows(2), {});
			const rows = phones.map((text) => ({ json: { phone: text } }));
			const { error } = (await retry(begun, {}, rows)).data.resultData;
			expect(error?.message).toContain("the node can't know which rows it pushed");
			expect(error?.description).toContain('Unknown: 2 rows (items 0 to 1)');
		},
	);

	test.each([
		['Continue', 'continueRegularOutput'],
		['Stop', undefined],
	] as const)(
		"if the settings can't be read since an edit, rows of a push that began are unknown (%s)",
		async (_which, onError) => {
			const bodies = answering(ok(2));
			const begun = await kill(manyRows(2), {});
			const { workflow } = flow({ phoneColumn: 'nowhere' }, onError);
			const run = await resume(harness.credentials, workflow, storedCopy(begun), 'retry');
			expect(bodies).toHaveLength(1);
			const { error } = run.data.resultData;
			if (onError === undefined) expect(error?.description).toContain('Unknown: 2 rows');
			else expect(rejected(run)).toEqual(['unknown', 'unknown']);
		},
	);

	test("with Skip Numbers Pushed Before, rows of a push that began are unknown if the settings can't be read", async () => {
		const options = { skipPushedBefore: true };
		service()
			.get('/v1/campaigns/42/status')
			.reply(200, { success: true, data: { campaign: { id: 42, status: 'Active' }, uploads: [] } });
		const bodies = answering(ok(2));
		const begun = await kill(manyRows(2), { options });
		expect(bodies).toHaveLength(1);
		const { workflow } = flow({ phoneColumn: 'nowhere', options }, 'continueRegularOutput');
		const run = await resume(harness.credentials, workflow, storedCopy(begun), 'retry');
		expect(rejected(run)).toEqual(['unknown', 'unknown']);
	});

	test("if the settings can't be read and no push had begun, rows were not sent", async () => {
		const begun = await kill([], {});
		const { workflow } = flow({ phoneColumn: 'nowhere' }, 'continueRegularOutput');
		const data = storedCopy(begun);
		const [task] = data.executionData?.nodeExecutionStack ?? [];
		if (task !== undefined) task.data = { main: [manyRows(2)] };
		const run = await resume(harness.credentials, workflow, data, 'retry');
		expect(rejected(run)).toEqual(['not_sent', 'not_sent']);
	});

	test('of a push with the same rows, invalid rows are rejected as before', async () => {
		answering(ok(1));
		const rows = [...manyRows(1), { json: { phone: '-' } }];
		const begun = await kill(rows, {});
		expect(rejected(await retry(begun, {}, rows))).toEqual(['unknown', 'rejected']);
	});

	test('pushes the rows of later runs if n8n stored the first ones, as with Save Execution Progress', async () => {
		const bodies = answering(ok(1), ok(1), ok(1));
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
		answering(ok(2));
		const begun = await kill(manyRows(2), {});
		service().post('/v1/campaigns/43/contacts').reply(200, accepted(2));
		const run = await retry(begun, { campaignId: '43' });
		expect([output(run, 'Node').length, rejected(run)]).toEqual([1, []]);
	});

	test('pushes nothing again if Skip Numbers Pushed Before was turned on in between', async () => {
		service()
			.get('/v1/campaigns/42/status')
			.reply(200, { success: true, data: { campaign: { id: 42, status: 'Active' }, uploads: [] } });
		const bodies = answering(ok(2));
		const begun = await kill(manyRows(2), {});
		const { error } = (await retry(begun, { options: { skipPushedBefore: true } })).data.resultData;
		expect(bodies).toHaveLength(1);
		expect(error?.message).toContain("the node can't know which rows it pushed");
		expect(error?.description).toContain('Unknown: 2 rows (items 0 to 1)');
	});

	test('pushes nothing again if a retry was killed, and the next one has requests of another size', async () => {
		const bodies = answering(ok(1), [401, 'no'], ok(1));
		const { workflow, start } = flow(ONE_EACH);
		const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		await retryKilled(harness.credentials, failed, workflow);
		const now = flow({}, 'continueRegularOutput').workflow;
		const again = await retryFailed(harness.credentials, failed, now);
		expect(bodies.flatMap(phonesOf)).toEqual([phone(0), phone(1), phone(1)]);
		expect(output(again, 'Node')).toHaveLength(1);
		expect(rejected(again)).toEqual(['unknown']);
	});

	test('two retries at the same moment, one of them with requests of another size, push each row once', async () => {
		const bodies = answering([401, 'no']);
		const { workflow, start } = flow({});
		const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		service().post(PATH, remembering(bodies)).optionally().times(4).reply(200, accepted(2));
		const other = flow({ options: { contactsPerRequest: 100 } }, 'continueRegularOutput').workflow;
		const [, again] = await Promise.all(
			[workflow, other].map(async (now) => await retryFailed(harness.credentials, failed, now)),
		);
		expect(bodies).toHaveLength(2);
		expect(again && rejected(again)).toEqual(['unknown', 'unknown']);
	});

	test('each attempt of Retry On Fail reports the begun rows, and pushes none of them', async () => {
		const rejection = { success: false, error: 'contacts[0] is wrong' };
		const bodies = answering(ok(1), [400, rejection], ok(1), [401, 'no']);
		const over = { options: { contactsPerRequest: 1, removeDuplicates: false } };
		const begun = await kill(manyRows(4), over);
		answeringInto(bodies, [401, 'no'], ok(1), [401, 'no'], ok(1));
		const node = pushNode(harness, over, { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 });
		const { workflow } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
		const data = storedCopy(begun);
		const [task] = data.executionData?.nodeExecutionStack ?? [];
		if (task !== undefined) task.node = node;
		const run = await resume(harness.credentials, workflow, data, 'retry');
		expect(rejected(run)).toEqual(['unknown', 'unknown']);
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 2, 3, 1, 1, 3, 3].map(phone));
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

	test("pushes no row again if n8n's database stores the notes of the retry, but reports an error", async () => {
		skipSleeps();
		const bodies = answering(ok(2));
		const begun = await kill(manyRows(2), {});
		expect(bodies).toHaveLength(1);
		service()
			.post(PATH)
			.optionally()
			.reply(200, () => {
				bodies.push({});
				return accepted(2);
			});
		harness.store.failAfterNextAdd();
		await retry(begun, {});
		expect(bodies).toHaveLength(1);
	});

	test("pushes no row again if n8n's database kept what a retry with requests of another size looked for", async () => {
		skipSleeps();
		const bodies = answering(ok(2));
		const begun = await kill(manyRows(2), {});
		harness.store.beforeCall = (call) => {
			if (call.startsWith('remove')) throw new Error('database is locked');
		};
		await retry(begun, ONE_EACH);
		harness.store.beforeCall = () => {};
		service().post(PATH, remembering(bodies)).optionally().times(2).reply(200, accepted(1));
		const { error } = (await retry(begun, ONE_EACH)).data.resultData;
		expect(bodies).toHaveLength(1);
		expect(error?.description).toContain('Unknown: 2 rows (items 0 to 1)');
	});

	test('an execution that ended normally leaves no record', async () => {
		answering(ok(1), [400, { success: false, error: 'no' }]);
		const { workflow, start } = flow(ONE_EACH);
		await runWorkflow(harness.credentials, workflow, start, manyRows(2));
		expect(harness.store.size).toBe(0);
	});
});

describe('rows that are recorded in blocks', () => {
	const numbersOf = (count: number, shift = 0) => {
		const phones = new PhonesByRow();
		for (let row = 0; row < count; row++) phones.set(row, phone(row + shift));
		const all = RowSet.ofRanges([0, count - 1]);
		return { keys: new KeysByRow(phones), rows: all };
	};

	/** What attempts note, over all of them. */
	function log() {
		const noted = new Set<string>();
		return (): PushLog => {
			const own = new Map<string, number>();
			return {
				begin: async (target) => {
					const name = JSON.stringify(target);
					const nth = own.get(name) ?? 0;
					own.set(name, nth + 1);
					const text = `${name} ${nth}`;
					const isNoted = noted.has(text);
					noted.add(text);
					return await Promise.resolve(isNoted);
				},
				release: async (target) => {
					const name = JSON.stringify(target);
					const nth = (own.get(name) ?? 0) - 1;
					own.set(name, nth);
					noted.delete(`${name} ${nth}`);
					await Promise.resolve();
				},
				findBegun: async (targets) => {
					const areBegun = targets.map((target) => {
						const name = JSON.stringify(target);
						const nth = own.get(name) ?? 0;
						const isNoted = noted.has(`${name} ${nth}`);
						if (isNoted) own.set(name, nth + 1);
						return isNoted;
					});
					return await Promise.resolve(areBegun);
				},
				wasBegun: async (target) => {
					const name = JSON.stringify(target);
					return await Promise.resolve(noted.has(`${name} ${own.get(name) ?? 0}`));
				},
			};
		};
	}

	/** n8n's store, which outlives executions. */
	function memoryStore(): DeduplicationStore {
		const texts = new Set<string>();
		return {
			add: async (more) => {
				const added = more.filter((text) => !texts.has(text));
				for (const text of more) texts.add(text);
				return await Promise.resolve(added);
			},
			remove: async (some) => {
				for (const text of some) texts.delete(text);
				await Promise.resolve();
			},
			clear: async () => {
				texts.clear();
				await Promise.resolve();
			},
			count: async () => await Promise.resolve(texts.size),
		};
	}

	/** The logs of an execution and its retries. */
	function attemptsOn(store: DeduplicationStore) {
		let isFirstAttempt = true;
		return (executionId: string) => {
			const origin = { startedAt: 1, executionId, isSubExecution: false };
			const log = new WriteAheadLog(store, origin, { isFirstAttempt });
			isFirstAttempt = false;
			return log;
		};
	}

	test('for any number of rows and request size, exactly the rows that were not begun are fresh', async () => {
		const cases = fc.record({
			count: fc.integer({ min: 1, max: 5_000 }),
			size: fc.integer({ min: 1, max: 700 }),
			part: fc.double({ min: 0, max: 1, noNaN: true }),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ count, size, part }) => {
				const attempt = log();
				const { keys, rows } = numbersOf(count);
				const open = async () =>
					await BegunRows.open(
						{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory: {} },
						{ keys, rows },
						size,
						async () => {},
					);
				const first = await open();
				const begun = new Set<number>();
				for (let start = 0; start < part * count; start += size) {
					const { fresh, known } = await first.claim(rows.slice(start, start + size));
					expect(known).toEqual([]);
					for (const row of fresh) begun.add(row);
				}
				const second = await open();
				const [known, fresh] = [new Set<number>(), new Set<number>()];
				for (let start = 0; start < count; start += size) {
					const found = await second.claim(rows.slice(start, start + size));
					for (const row of found.known) known.add(row);
					for (const row of found.fresh) fresh.add(row);
				}
				for (const row of begun) expect(known.has(row)).toBe(true);
				expect(known.size + fresh.size).toBe(count);
				// A block may be larger than a request, where a push has more than a thousand of them.
				const block = Math.max(size, Math.ceil(count / 1_000));
				expect(known.size - begun.size).toBeLessThan(block);
			}),
		);
	});

	test('a row that was or may have been pushed is never fresh again', async () => {
		const cases = fc.record({
			gaps: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 300 }),
			blockSize: fc.integer({ min: 1, max: 40 }),
			requestSize: fc.integer({ min: 1, max: 50 }),
			/** How many requests are noted before the result of an earlier one is known. */
			ahead: fc.nat(2),
			rejected: fc.func(fc.boolean()),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ gaps, blockSize, requestSize, ahead, rejected }) => {
				const attempt = log();
				let last = -1;
				const rows = gaps.map((gap) => (last += gap));
				const { keys } = numbersOf(last + 1);
				const open = async () =>
					await BegunRows.open(
						{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory: {} },
						{ keys, rows: RowSet.of(rows) },
						blockSize,
						async () => {},
					);
				const first = await open();
				const requests = chunk(rows, requestSize);
				const inFlight: number[][] = [];
				for (const request of requests) {
					inFlight.push((await first.claim(request)).fresh);
					if (inFlight.length <= ahead) continue;
					const sent = inFlight.shift() ?? [];
					await first.settle(
						sent,
						sent.filter((row) => rejected(row)),
					);
				}
				const isSent = (row: number) => inFlight.flat().includes(row) || !rejected(row);
				const known = chunk(rows, blockSize).filter((block) => block.some(isSent));
				const second = await open();
				for (const request of requests) {
					const { fresh } = await second.claim(request);
					expect(fresh).toEqual(request.filter((row) => !known.flat().includes(row)));
				}
			}),
		);
	});

	test('in several pushes, no begun row is fresh again, and a retry stops if begun rows are missing', async () => {
		const push = fc.record({ campaign: fc.constantFrom(1, 2), list: fc.nat(2) });
		const cases = fc.record({
			pushes: fc.array(push, { minLength: 1, maxLength: 5 }),
			killedAfter: fc.nat(12),
			/** By push, the list that a retry has instead. */
			changes: fc.array(fc.constantFrom(undefined, undefined, undefined, 0, 3), { maxLength: 5 }),
		});
		const size = 2;
		const count = (names: readonly string[], name: string) =>
			names.filter((one) => one === name).length;
		await fc.assert(
			fc.asyncProperty(cases, async ({ pushes, killedAfter, changes }) => {
				const attempt = log();
				const opener = () => {
					const [own, memory]: [PushLog, RowsMemory] = [attempt(), {}];
					return async (campaign: number, prepared: ReturnType<typeof numbersOf>) =>
						await BegunRows.open(
							{ log: own, campaign, executionId: 'e', push: {}, memory },
							prepared,
							size,
							async () => {},
						);
				};
				const preparedOf = (list: number) => numbersOf(3 + list, 10 * list);
				const [begun, begunPushes]: [string[], string[]] = [[], []];
				const openFirst = opener();
				let claims = 0;
				for (const { campaign, list } of pushes) {
					const prepared = preparedOf(list);
					const first = await openFirst(campaign, prepared);
					if (claims < killedAfter) begunPushes.push(`${campaign} ${list}`);
					for (const request of chunk([...prepared.rows], size)) {
						if (++claims > killedAfter) break;
						expect(await first.claim(request)).toEqual({ fresh: request, known: [] });
						for (const row of request) begun.push(`${campaign} ${list} ${row}`);
					}
				}
				const [asked, fresh]: [string[], string[]] = [[], []];
				const openSecond = opener();
				let hasStopped = false;
				for (const [index, { campaign, ...before }] of pushes.entries()) {
					const { [index]: list = before.list } = changes;
					const prepared = preparedOf(list);
					const second = await openSecond(campaign, prepared);
					for (const request of chunk([...prepared.rows], size)) {
						const claimed = await second.claim(request).catch(() => undefined);
						hasStopped ||= claimed === undefined;
						// Once it has stopped, it goes on with no other push.
						expect(claimed === undefined).toBe(hasStopped);
						for (const row of request) asked.push(`${campaign} ${list} ${row}`);
						for (const row of claimed?.fresh ?? []) fresh.push(`${campaign} ${list} ${row}`);
					}
					const isBegun = index < begunPushes.length;
					if (isBegun && !begunPushes.includes(`${campaign} ${list}`))
						expect(hasStopped).toBe(true);
				}
				if (changes.every((list) => list === undefined)) expect(hasStopped).toBe(false);
				for (const row of new Set(asked)) {
					const left = Math.max(0, count(asked, row) - count(begun, row));
					if (hasStopped) expect(count(fresh, row)).toBeLessThanOrEqual(left);
					else expect(count(fresh, row)).toBe(left);
				}
			}),
			{ numRuns: 500 },
		);
	});

	test('in a loop, also with pushes that send nothing, no number is fresh again if rows moved or were corrected', async () => {
		const cell = fc.oneof(fc.nat(6), fc.constant('-'));
		const cases = fc.record({
			cells: fc.array(cell, { minLength: 1, maxLength: 12 }),
			perPush: fc.integer({ min: 1, max: 4 }),
			killedAfter: fc.nat(12),
			/** Of the sheet, before the retry. */
			inserted: fc.array(fc.record({ at: fc.nat(12), number: fc.nat(9) }), { maxLength: 2 }),
			areInvalidRemoved: fc.boolean(),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ cells, perPush, killedAfter, ...edits }) => {
				const attempt = attemptsOn(memoryStore());
				const fresh: number[] = [];
				let [claims, hasStopped] = [0, false];
				const pushAll = async (executionId: string, sheet: typeof cells, maxClaims: number) => {
					const log = attempt(executionId);
					const memory: RowsMemory = {};
					const sentNow = new Set<number>();
					for (const batch of chunk(sheet, perPush)) {
						const numbers = uniq(batch.filter((one) => one !== '-'));
						const phones = new PhonesByRow();
						for (const [row, number] of numbers.entries()) phones.set(row, phone(number));
						const rows = RowSet.ofRanges([0, numbers.length - 1]);
						const options = { log, campaign: 1, executionId, push: {}, memory };
						const prepared = { keys: new KeysByRow(phones), rows };
						const push = await BegunRows.open(options, prepared, 2, async () => {});
						// As `SentNumbers` does with those of earlier pushes.
						const unsent = [...rows].filter((row) => !sentNow.has(numbers[row] ?? 0));
						for (const request of chunk(unsent, 2)) {
							if (claims++ >= maxClaims) return;
							const claimed = await push.claim(request).catch(() => undefined);
							hasStopped ||= claimed === undefined;
							for (const row of claimed?.fresh ?? []) fresh.push(numbers[row] ?? 0);
							for (const row of request) sentNow.add(numbers[row] ?? 0);
						}
					}
				};
				await pushAll('first', cells, killedAfter);
				const sheet = edits.areInvalidRemoved ? cells.filter((one) => one !== '-') : [...cells];
				for (const { at, number } of edits.inserted) sheet.splice(at, 0, number);
				await pushAll('retry', sheet, Infinity);
				expect(uniq(fresh)).toEqual(fresh);
				if (isEqual(sheet, cells)) expect(hasStopped).toBe(false);
			}),
			{ numRuns: 1_000 },
		);
	});

	test('over any number of retries, each with its own rows, no row is fresh twice', async () => {
		const attempts = fc.array(
			fc.record({
				list: fc.constantFrom(0, 0, 0, 1, 2),
				/** The number of requests before n8n is killed. */
				killedAfter: fc.nat(6),
				/** Whether it retries the attempt before, which n8n has stored. Otherwise, it retries the first execution. */
				retriesLast: fc.boolean(),
			}),
			{ minLength: 2, maxLength: 6 },
		);
		const size = 2;
		await fc.assert(
			fc.asyncProperty(attempts, async (all) => {
				const attempt = attemptsOn(memoryStore());
				let stored: Pick<BegunRowsOptions, 'push' | 'memory'> | undefined;
				const sent: string[] = [];
				for (const [index, { list, killedAfter, retriesLast }] of all.entries()) {
					const executionId = `e${index}`;
					const { push, memory } = (retriesLast ? stored : undefined) ?? { push: {}, memory: {} };
					const log = attempt(executionId);
					const prepared = numbersOf(5 + list, list);
					const options = { log, campaign: 1, executionId, push, memory };
					const rows = await BegunRows.open(options, prepared, size, async () => {});
					const requests = chunk([...prepared.rows], size).slice(0, killedAfter);
					for (const request of requests) {
						const claimed = await rows.claim(request).catch(() => undefined);
						for (const row of claimed?.fresh ?? []) sent.push(phone(row + list));
					}
					stored = killedAfter > 3 ? { push, memory } : undefined;
				}
				expect(uniq(sent)).toEqual(sent);
			}),
			{ numRuns: 500 },
		);
	});

	describe('and of which some were pushed and others not sent', () => {
		type Row = 'pushed' | 'unknown' | 'not sent';
		/** One push of an attempt, or one of its tries with *Retry On Fail*. */
		type Try = { requestSize: number; requests: number; rows: Row[] };
		type Attempt = {
			/** The execution that it retries. */
			of: number;
			tries: Try[];
			/** Whether the node pushes the same rows again in a later run, as with *Continue*. */
			continues: boolean;
			/** How often it writes to n8n's database before n8n is killed. */
			writes: number;
			/** Whether n8n stores the execution. Otherwise, it's killed at the end. */
			isStored: boolean;
		};
		/** The progress of a run. */
		type Run = { push: BegunRowsOptions['push']; sent: number[]; unknown: number[] };
		type Execution = { memory: RowsMemory; runs: Run[] };
		const COUNT = 6;
		const newRun = (): Run => ({ push: {}, sent: [], unknown: [] });
		const copyOf = (execution: Execution): Execution => structuredClone(execution);

		/** Pushes the rows without a result, and adds those that were or may have been pushed to `effects`. */
		async function pushOnce(
			options: Omit<BegunRowsOptions, 'push'>,
			run: Run,
			{ requestSize, requests, rows }: Try,
			{
				blockSize,
				effects,
				leftOut = [],
			}: { blockSize: number; effects: number[]; leftOut?: number[] },
			requireAlive: () => void,
		): Promise<void> {
			const prepared = numbersOf(COUNT);
			const sent = [{ campaign: 1, rows: RowSet.of(run.sent.toSorted()).toRanges() }];
			run.push = { ...run.push, sent };
			const begun = await BegunRows.open(
				{ ...options, push: run.push },
				prepared,
				blockSize,
				async () => {},
			);
			requireAlive();
			run.unknown.push(...begun.begunRows());
			const done = new Set([...run.sent, ...run.unknown, ...leftOut]);
			const queue = new AllRows(
				prepared.rows.filter((row) => !done.has(row)),
				'onScreen',
				begun,
			);
			for (let count = 0; count < requests; count++) {
				const request = await queue.take(requestSize);
				requireAlive();
				const isSent = (row: number) => (rows[row % rows.length] ?? 'not sent') !== 'not sent';
				const [sent, unsent] = partition(request, isSent);
				effects.push(...sent);
				run.sent.push(...sent);
				await queue.settle(request, unsent);
				requireAlive();
			}
			await queue.close();
			for (const { rows: skipped } of queue.skipped()) run.unknown.push(...skipped);
		}

		/** @returns the rows that were or may have been pushed, and those that the last attempt reports as unknown */
		async function pushAll(attempts: readonly Attempt[], blockSize: number) {
			const store = new KillableStore();
			const attempt = attemptsOn(store);
			const effects: number[] = [];
			let stored: Execution[] = [{ memory: {}, runs: [newRun()] }];
			let unknown: number[] = [];
			for (const [index, { of, tries, continues, writes, isStored }] of attempts.entries()) {
				const earlier = stored[of % stored.length] ?? { memory: {}, runs: [newRun()] };
				const { memory, runs } = copyOf(earlier);
				const executionId = `e${index}`;
				const log = attempt(executionId);
				const options = { log, campaign: 1, executionId, memory };
				store.left = writes;
				const requireAlive = () => {
					if (store.left < 0) throw new Killed();
				};
				try {
					for (let round = continues ? 2 : 1; round > 0; round--) {
						const run = runs.at(-1) ?? newRun();
						// As `SentNumbers` does.
						const leftOut = runs.slice(0, -1).flatMap(({ sent, unknown }) => [...sent, ...unknown]);
						for (const one of tries) {
							await pushOnce(options, run, one, { blockSize, effects, leftOut }, requireAlive);
						}
						if (round > 1) runs.push(newRun());
					}
					if (!isStored) throw new Killed();
					if (index === 0) await log.clear();
					requireAlive();
					stored = index === 0 ? [{ memory, runs }] : [...stored, { memory, runs }];
					unknown = runs.flatMap((run) => run.unknown);
				} catch (error) {
					// If it's killed while it looks for a push, the next attempt finds one with other rows, and stops.
					if (!(error instanceof Killed)) expect(error).toBeInstanceOf(OutcomeUnknown);
				}
				store.left = Infinity;
			}
			return { effects, unknown };
		}

		const row = fc.constantFrom<Row>('pushed', 'unknown', 'not sent', 'not sent');
		const oneTry = fc.record({
			requestSize: fc.integer({ min: 1, max: 3 }),
			requests: fc.nat(4),
			rows: fc.array(row, { minLength: COUNT, maxLength: COUNT }),
		});
		const tries = fc.array(oneTry, { minLength: 1, maxLength: 2 });
		const blockSizes = fc.integer({ min: 3, max: 6 });

		test('no row is pushed twice, whichever attempts are retried, and whenever n8n is killed', async () => {
			const one = fc.record({
				of: fc.nat(3),
				tries,
				continues: fc.boolean(),
				writes: fc.oneof({ weight: 2, arbitrary: fc.constant(Infinity) }, fc.nat(25)),
				isStored: fc.boolean(),
			});
			const all = fc.array(one, { minLength: 2, maxLength: 5 });
			await fc.assert(
				fc.asyncProperty(all, blockSizes, async (attempts, blockSize) => {
					const { effects } = await pushAll(attempts, blockSize);
					expect(effects.toSorted()).toEqual(uniq(effects).toSorted());
				}),
				{ numRuns: 500 },
			);
		});

		test('none is unknown if each retry is stored and retried in turn', async () => {
			const all = fc.array(tries, { minLength: 2, maxLength: 5 });
			await fc.assert(
				fc.asyncProperty(all, blockSizes, async (triesOfAll, blockSize) => {
					const attempts = triesOfAll.map((ofOne, index) => ({
						of: Math.max(0, index - 1),
						tries: ofOne,
						continues: false,
						writes: Infinity,
						isStored: true,
					}));
					const finish = { requestSize: COUNT, requests: 2, rows: ['pushed' as const] };
					const last = { of: attempts.length - 1, tries: [finish], continues: false };
					const { effects, unknown } = await pushAll(
						[...attempts, { ...last, writes: Infinity, isStored: true }],
						blockSize,
					);
					expect(unknown).toEqual([]);
					expect(effects.toSorted()).toEqual([...numbersOf(COUNT).rows]);
				}),
				{ numRuns: 500 },
			);
		});
	});

	test('a rejected request releases no row of a block while another request of the block is in flight', async () => {
		const attempt = log();
		const open = async () =>
			await BegunRows.open(
				{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory: {} },
				numbersOf(4),
				4,
				async () => {},
			);
		const first = await open();
		await first.claim([0, 1]);
		await first.claim([2, 3]);
		await first.settle([0, 1], [0, 1]);
		expect(await (await open()).claim([0, 1, 2, 3])).toEqual({ fresh: [], known: [0, 1, 2, 3] });
	});

	test('results of unrecorded rows do not prevent recording them', async () => {
		const attempt = log();
		const open = async () =>
			await BegunRows.open(
				{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory: {} },
				numbersOf(3),
				3,
				async () => {},
			);
		const first = await open();
		await first.settle([0], []);
		await first.claim([0, 1, 2]);
		expect(await (await open()).claim([0, 1, 2])).toEqual({ fresh: [], known: [0, 1, 2] });
	});

	test.each([
		['a row less', 0, 9],
		['a row more', 0, 11],
		['other rows', 5, 10],
	])('with %s, nothing is fresh', async (_what, shift, count) => {
		const attempt = log();
		// Of the retry: what the killed attempt remembered is lost.
		const kept = {};
		const open = async (prepared: ReturnType<typeof numbersOf>, memory: RowsMemory = kept) =>
			await BegunRows.open(
				{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory },
				prepared,
				3,
				async () => {},
			);
		await (await open(numbersOf(10), {})).claim([0, 1, 2]);
		const changed = numbersOf(count, shift);
		await expect((await open(changed)).claim([0, 1, 2])).rejects.toThrow("can't know");
		// Nor in any later round of a loop, whose rows have moved as well.
		await expect((await open(numbersOf(4, 100))).claim([0, 1])).rejects.toThrow("can't know");
	});

	const push = { campaign: 42, pushIndex: 0, fingerprint: 'f', blockSize: 10 };
	test.each([
		{},
		{ areChanged: true },
		{ pushes: {} },
		{ pushes: { 42: 1 } },
		{ unrecorded: [push] },
	])('%j is a memory of pushes', (stored) => {
		expect(isRowsMemory(stored)).toBe(true);
	});

	test.each([
		undefined,
		null,
		'pushes',
		[],
		{ areChanged: false },
		{ areChanged: 'yes' },
		{ pushes: null },
		{ pushes: [] },
		{ pushes: { 42: '1' } },
		{ pushes: { 4: 1, 42: null } },
		{ unrecorded: {} },
		{ unrecorded: [{ ...push, pushIndex: '0' }] },
		{ unrecorded: [{ ...push, fingerprint: 1 }] },
		{ unrecorded: [null] },
	])('%j is not a valid record', (stored) => {
		expect(isRowsMemory(stored)).toBe(false);
	});
});
