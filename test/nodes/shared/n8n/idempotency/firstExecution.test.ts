import * as fc from 'fast-check';
import { WorkflowExecute } from 'n8n-core';
import type { INode, IRun, WorkflowExecuteMode } from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../../../../nodes/shared/n8n/http/accountClient';
import {
	storeKey,
	withEventKey,
} from '../../../../../nodes/shared/n8n/idempotency/eventDeduplication';
import {
	engineHarness,
	makeAdditionalData,
	makeWorkflow,
	runDataOf,
	skipSleeps,
	triggerContext,
} from '../../../../engine';

const harness = engineHarness();
// A process remembers the rows of each trigger, so each test uses its own.
let triggers = 0;
let trigger: INode;
let workflow: ReturnType<typeof makeWorkflow>;
beforeEach(() => {
	useAnotherTrigger();
	skipSleeps();
});
afterEach(() => jest.restoreAllMocks());

function useAnotherTrigger(): void {
	trigger = harness.node('callCompletedTrigger', { id: `trigger-${++triggers}` });
	workflow = makeWorkflow([trigger]);
}

const MINUTE_MS = 60_000;
const KEPT_MS = 30 * MINUTE_MS;

/** An execution of the workflow that a webhook process started, unless another mode is given. */
async function execute(
	key: string,
	executionId: string,
	mode: WorkflowExecuteMode = 'webhook',
): Promise<IRun> {
	const additionalData = makeAdditionalData(harness.credentials, mode, { executionId });
	const data = runDataOf(trigger, withEventKey([{ json: { key } }], key));
	const run = await new WorkflowExecute(additionalData, mode, data).processRunExecutionData(
		workflow,
	);
	// The trigger doesn't wait until old rows are deleted.
	for (let tick = 0; tick < 3; tick++) await new Promise(setImmediate);
	return run;
}

/** The items that pass the trigger. */
function passed({ data }: IRun): unknown[] {
	const [result] = data.resultData.runData[trigger.name] ?? [];
	return (result?.data?.main?.[0] ?? []).map((item) => item.json);
}

const isFirst = async (...execution: Parameters<typeof execute>) =>
	passed(await execute(...execution)).length === 1;

/** The keys whose rows are in n8n's database. */
const rows = () =>
	harness.store.nodeIds.map((id) =>
		z.string().startsWith('event:').parse(id).slice('event:'.length),
	);

it("exactly one of several simultaneous executions passes, even if n8n's database reports errors", async () => {
	const executions = fc.array(fc.record({ key: fc.constantFrom('a', 'b'), delay: fc.nat(3) }), {
		minLength: 1,
		maxLength: 6,
	});
	/** For each use of the database: it works, it isn't available, or it writes and reports an error. */
	const faults = fc.array(fc.constantFrom('none', 'none', 'before', 'after'), { maxLength: 12 });
	let run = 0;
	await fc.assert(
		fc.asyncProperty(executions, faults, async (all, inTurn) => {
			run++;
			const pending = [...inTurn];
			harness.store.beforeCall = () => {
				const fault = pending.shift();
				if (fault === 'before') throw new Error('the database is away');
				if (fault === 'after') harness.store.failAfterNextAdd();
			};
			const results = await Promise.all(
				all.map(async ({ key, delay }, index) => {
					for (let tick = 0; tick < delay; tick++) await new Promise(setImmediate);
					return { key, first: await isFirst(`${run} ${key}`, `${run}-${index}`) };
				}),
			);
			const won = results.filter(({ first }) => first).map(({ key }) => key);
			expect(won.sort()).toEqual([...new Set(all.map(({ key }) => key))].sort());
		}),
		{ numRuns: 300 },
	);
});

it('the first execution stays the first if n8n runs it again', async () => {
	expect(await isFirst('a', '1')).toBe(true);
	expect(await isFirst('a', '2')).toBe(false);
	expect(await isFirst('a', '1')).toBe(true);
});

it("the trigger keeps its ID, and its own row isn't used", async () => {
	const { id } = trigger;
	const run = await execute('a', '1');
	expect(trigger.id).toBe(id);
	expect(JSON.stringify(run)).not.toContain('event:');
	expect(rows()).toEqual(['a']);
});

it('a database that stays unavailable ends the execution with what to do', async () => {
	harness.store.beforeCall = () => {
		throw new Error('the database is away');
	};
	const { data } = await execute('a', '1');
	expect(data.resultData.error).toMatchObject({
		message: "n8n's database didn't respond, so the trigger can't check for a repeated event",
		description:
			"Look for another execution for the same event that continued after the trigger. If there isn't one, retry this execution. n8n reported: Error: the database is away",
	});
});

describe('a later n8n that uses one row for all names', () => {
	beforeEach(() => {
		Object.defineProperty(trigger, 'id', { get: () => 'node', set: () => {} });
	});

	it("doesn't lose events of webhook processes silently", async () => {
		expect(await isFirst('a', '1')).toBe(true);
		const { data } = await execute('b', '2');
		expect(data.resultData.error).toMatchObject({
			message: "The trigger can't check for a repeated event with this version of n8n",
			description: expect.stringContaining('retry this execution'),
		});
	});

	it('starts the workflow for the events of the main process, whose keys n8n compares', async () => {
		expect(await isFirst('a', '1', 'trigger')).toBe(true);
		expect(await isFirst('b', '2', 'trigger')).toBe(true);
	});

	it('also starts it for them if a webhook process has delivered another event', async () => {
		storeKey(triggerContext(harness.credentials, workflow, trigger), 'a');
		expect(await isFirst('a', '1')).toBe(true);
		expect(await isFirst('b', '2', 'trigger')).toBe(true);
	});
});

describe("the rows in n8n's database", () => {
	let now: number;
	beforeEach(() => {
		now = 0;
		jest.spyOn(clock, 'elapsed').mockImplementation(() => now);
	});

	const executeMany = async (count: number, prefix: string) => {
		for (let index = 0; index < count; index++)
			await execute(`${prefix}${index}`, `${prefix}${index}`);
	};

	it('stay for 30 minutes, and those of the latest 1,000 events longer', async () => {
		await executeMany(1_500, 'early ');
		now += 29 * MINUTE_MS;
		await executeMany(1, 'in between ');
		expect(rows()).toHaveLength(1_501);
		now += MINUTE_MS;
		await executeMany(300, 'late ');
		expect(rows()).toHaveLength(1_501 - 300);
		await executeMany(300, 'later ');
		expect(rows()).toHaveLength(1_000);
		expect(rows()).toContain('in between 0');
		now += 31 * MINUTE_MS;
		await executeMany(1, 'last ');
		expect(rows()).toHaveLength(1_000);
	});

	it('of the main process stay for 30 minutes, because n8n keeps its keys', async () => {
		await execute('a', '1', 'trigger');
		now += KEPT_MS - 1;
		await execute('b', '2', 'trigger');
		expect(rows()).toEqual(['a', 'b']);
		now += 1;
		await execute('c', '3', 'trigger');
		expect(rows()).toEqual(['b', 'c']);
	});

	it('of the main process are there for a webhook process that kept the first delivery for two minutes', async () => {
		await execute('a', '1', 'trigger');
		now += 2 * MINUTE_MS;
		await execute('b', '2', 'trigger');
		expect(await isFirst('a', '3')).toBe(false);
	});

	it('of events that a webhook process delivered stay if another process removes the stored keys', async () => {
		await execute('a', '1');
		now += KEPT_MS;
		await execute('b', '2', 'trigger');
		now += KEPT_MS;
		await execute('c', '3', 'trigger');
		expect(rows()).toEqual(['a', 'b', 'c']);
	});

	it('stay longer if n8n runs the execution again, and the other ones are deleted', async () => {
		await execute('a', '1', 'trigger');
		await execute('b', '2', 'trigger');
		now += KEPT_MS - 1;
		await execute('a', '1', 'trigger');
		now += 1;
		await execute('c', '3', 'trigger');
		expect(rows()).toEqual(['a', 'c']);
	});

	it('that another process left are deleted with the keys that the workflow stores', async () => {
		await execute('a', '1');
		useAnotherTrigger();
		const stored = ['a', ...Array.from({ length: 999 }, (_, index) => `stored ${index}`)];
		const context = triggerContext(harness.credentials, workflow, trigger);
		for (const key of stored) storeKey(context, key);
		await execute('b', '2');
		now += KEPT_MS;
		expect(rows()).toEqual(['a', 'b']);
		await execute('c', '3');
		expect(rows()).toEqual(['b', 'c']);
	});

	it("that n8n can't delete are deleted later", async () => {
		await execute('a', '1', 'trigger');
		now += KEPT_MS;
		harness.store.beforeCall = (call) => {
			if (call === 'clear') throw new Error('the database is away');
		};
		await execute('b', '2', 'trigger');
		expect(rows()).toEqual(['a', 'b']);
		harness.store.beforeCall = () => {};
		now += KEPT_MS;
		await execute('c', '3', 'trigger');
		expect(rows()).toEqual(['c']);
	});
});
