import type { INodeExecutionData, WorkflowExecuteMode } from 'n8n-workflow';
import { withEventKey } from '../../../../../nodes/shared/n8n/idempotency/eventDeduplication';
import { engineHarness, oneNodeWorkflow, output, runWorkflow } from '../../../../engine';

const harness = engineHarness();
const { store } = harness;

const CALL: INodeExecutionData = { json: { call_id: 'c1' } };

/** An execution as a webhook process starts it and a worker runs it; what comes out of the trigger. */
async function started(input: INodeExecutionData[], mode: WorkflowExecuteMode = 'webhook') {
	const node = harness.node('callCompletedTrigger', { name: 'Trigger' });
	const { workflow } = oneNodeWorkflow(node, ['After']);
	return await runWorkflow(harness.credentials, workflow, node, input, mode);
}

describe('an event that a webhook process without the trigger starts executions for', () => {
	it('at the same moment twice: one of them goes on, with the items as they came', async () => {
		const runs = [1, 2].map(async () => await started(withEventKey([CALL], 'key')));
		const items = (await Promise.all(runs)).flatMap((run) => output(run, 'Trigger'));
		expect(items).toEqual([{ ...CALL, pairedItem: { item: 0 } }]);
	});

	it('again later: the second one ends without a word to the nodes after it', async () => {
		await started(withEventKey([CALL], 'key'));
		const again = await started(withEventKey([CALL], 'key'));
		expect(again.data.resultData.error).toBeUndefined();
		expect(Object.keys(again.data.resultData.runData)).toEqual(['Trigger']);
	});

	it('another event goes on', async () => {
		await started(withEventKey([CALL], 'key'));
		const other = await started(withEventKey([CALL], 'another key'));
		expect(output(other, 'Trigger')).toHaveLength(1);
	});

	it('a retry by hand goes on', async () => {
		await started(withEventKey([CALL], 'key'));
		const again = await started(withEventKey([CALL], 'key'), 'retry');
		expect(output(again, 'Trigger')).toMatchObject([CALL]);
	});
});

it('what the trigger itself emitted, or may come again, is passed on without a look', async () => {
	expect(output(await started([CALL], 'trigger'), 'Trigger')).toMatchObject([CALL]);
	expect(output(await started([CALL]), 'Trigger')).toMatchObject([CALL]);
	expect(store.calls).toEqual([]);
});
