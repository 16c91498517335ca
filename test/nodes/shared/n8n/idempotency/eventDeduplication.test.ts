import {
	createErrorExecutionData,
	NodeOperationError,
	type INodeExecutionData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import {
	storedKeysOf,
	storeKey,
	withEventKey,
} from '../../../../../nodes/shared/n8n/idempotency/eventDeduplication';
import { registerTrigger } from '../../../../../nodes/shared/n8n/triggers/activeTriggers';
import {
	engineHarness,
	oneNodeWorkflow,
	output,
	retryFailed,
	runWorkflow,
	skipSleeps,
	triggerContext,
} from '../../../../engine';

const harness = engineHarness();
const { store } = harness;

afterEach(() => jest.restoreAllMocks());

const CALL: INodeExecutionData = { json: { call_id: 'c1' } };

/** The trigger's output in an execution that a webhook process starts and a worker runs. */
async function started(input: INodeExecutionData[], mode: WorkflowExecuteMode = 'webhook') {
	const node = harness.node('callCompletedTrigger', { name: 'Trigger' });
	const { workflow } = oneNodeWorkflow(node, ['After']);
	return await runWorkflow(harness.credentials, workflow, node, input, mode);
}

describe('an event in a webhook process without the trigger', () => {
	it('starts one of two simultaneous executions, with unchanged items', async () => {
		const runs = [1, 2].map(async () => await started(withEventKey([CALL], 'key')));
		const items = (await Promise.all(runs)).flatMap((run) => output(run, 'Trigger'));
		expect(items).toEqual([{ ...CALL, pairedItem: { item: 0 } }]);
	});

	it('ends a later second execution without output', async () => {
		await started(withEventKey([CALL], 'key'));
		const again = await started(withEventKey([CALL], 'key'));
		expect(again.data.resultData.error).toBeUndefined();
		expect(Object.keys(again.data.resultData.runData)).toEqual(['Trigger']);
	});

	it('is recognized after 1,500 others', async () => {
		await started(withEventKey([CALL], 'key'));
		const others = Array.from({ length: 1_500 }, async (_, index) => {
			await started(withEventKey([CALL], `key-${index}`));
		});
		await Promise.all(others);
		const again = await started(withEventKey([CALL], 'key'));
		expect(Object.keys(again.data.resultData.runData)).toEqual(['Trigger']);
	});

	it('lets a different event pass', async () => {
		await started(withEventKey([CALL], 'key'));
		const other = await started(withEventKey([CALL], 'another key'));
		expect(output(other, 'Trigger')).toHaveLength(1);
	});

	it('lets a manual retry pass', async () => {
		await started(withEventKey([CALL], 'key'));
		const again = await started(withEventKey([CALL], 'key'), 'retry');
		expect(output(again, 'Trigger')).toMatchObject([CALL]);
	});

	it('starts no other execution after a manual retry of one that failed before the check', async () => {
		const retry = await started(withEventKey([CALL], 'key'), 'retry');
		const again = await started(withEventKey([CALL], 'key'));
		expect(output(retry, 'Trigger')).toMatchObject([CALL]);
		expect(Object.keys(again.data.resultData.runData)).toEqual(['Trigger']);
	});

	it("lets a manual retry pass if n8n's database reports errors", async () => {
		skipSleeps();
		store.beforeCall = () => {
			throw new Error('the database is away');
		};
		const retry = await started(withEventKey([CALL], 'key'), 'retry');
		expect(output(retry, 'Trigger')).toMatchObject([CALL]);
	});
});

describe('an event that reaches the main process and a webhook process, in a worker', () => {
	it.each<[WorkflowExecuteMode, WorkflowExecuteMode]>([
		['trigger', 'webhook'],
		['webhook', 'trigger'],
	])('starts the execution with mode "%s", not the later one with "%s"', async (first, second) => {
		const one = await started(withEventKey([CALL], 'key'), first);
		const again = await started(withEventKey([CALL], 'key'), second);
		expect(output(one, 'Trigger')).toHaveLength(1);
		expect(Object.keys(again.data.resultData.runData)).toEqual(['Trigger']);
	});

	it('starts one of two simultaneous executions', async () => {
		const modes = ['trigger', 'webhook'] as const;
		const runs = modes.map(async (mode) => await started(withEventKey([CALL], 'key'), mode));
		const items = (await Promise.all(runs)).flatMap((run) => output(run, 'Trigger'));
		expect(items).toEqual([{ ...CALL, pairedItem: { item: 0 } }]);
	});
});

it("an execution in the process of its trigger isn't checked, because n8n has compared the key", async () => {
	const node = harness.node('callCompletedTrigger', { name: 'Trigger' });
	const { workflow } = oneNodeWorkflow(node, ['After']);
	const trigger = triggerContext(harness.credentials, workflow, node);
	const { closeFunction } = registerTrigger(trigger, async () => {});
	const input = withEventKey([CALL], 'key');
	const run = await runWorkflow(harness.credentials, workflow, node, input, 'trigger');
	await closeFunction?.();
	expect(output(run, 'Trigger')).toMatchObject([CALL]);
	expect(store.calls).toEqual([]);
});

it('the workflow stores the keys of the latest 1,000 events, however often they repeat', () => {
	const node = harness.node('callCompletedTrigger', { name: 'Trigger' });
	const context = triggerContext(harness.credentials, oneNodeWorkflow(node).workflow, node);
	const keys = Array.from({ length: 1_001 }, (_, index) => `key-${index}`);
	for (const key of keys) storeKey(context, key);
	for (let times = 0; times < 500; times++) storeKey(context, 'key-1000');
	expect(storedKeysOf(context)).toEqual(keys.slice(1));
});

it('items without an event key pass without a check', async () => {
	expect(output(await started([CALL], 'trigger'), 'Trigger')).toMatchObject([CALL]);
	expect(output(await started([CALL]), 'Trigger')).toMatchObject([CALL]);
	expect(store.calls).toEqual([]);
});

it('a retry of a failed execution that reports something, and has no event, does not succeed', async () => {
	const node = harness.node('callCompletedTrigger', { name: 'Trigger' });
	const { workflow } = oneNodeWorkflow(node, ['After']);
	const failed = createErrorExecutionData(node, new NodeOperationError(node, "couldn't be read"));
	const again = await retryFailed(harness.credentials, { data: failed }, workflow);
	expect(again.data.resultData.error).toMatchObject({
		message: "This execution has no event, so a retry can't start the workflow",
		description: expect.stringContaining('the failed execution'),
	});
});
