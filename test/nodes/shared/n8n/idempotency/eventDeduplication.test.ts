import type { INodeExecutionData, WorkflowExecuteMode } from 'n8n-workflow';
import { withEventKey } from '../../../../../nodes/shared/n8n/idempotency/eventDeduplication';
import { engineHarness, oneNodeWorkflow, output, runWorkflow } from '../../../../engine';

const harness = engineHarness();
const { store } = harness;

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
});

it('items without an event key pass without a check', async () => {
	expect(output(await started([CALL], 'trigger'), 'Trigger')).toMatchObject([CALL]);
	expect(output(await started([CALL]), 'Trigger')).toMatchObject([CALL]);
	expect(store.calls).toEqual([]);
});
