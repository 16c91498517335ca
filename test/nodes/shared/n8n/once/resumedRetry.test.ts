import { WorkflowExecute } from 'n8n-core';
import type { IRunExecutionData } from 'n8n-workflow';
import { BoundedMap } from '../../../../../nodes/shared/boundedMap';
import { makeAdditionalData, oneNodeWorkflow, storedCopy } from '../../../../engine';
import { acceptCalls, placeCallHarness } from '../../../PlaceCall/placeCallHarness';

const harness = placeCallHarness();
afterEach(() => jest.restoreAllMocks());

test('a retry that calls a person again after a wait, during which n8n was restarted, places both calls', async () => {
	const node = harness.placeCallNode();
	const { workflow } = oneNodeWorkflow(node);
	const task = () => ({ node, data: { main: [[{ json: {} }]] }, source: null });
	/** A part of the retry: until it waits, or from then on. */
	const runPart = async (data: IRunExecutionData) => {
		const executionId = 'resumed retry';
		const additionalData = makeAdditionalData(harness.credentials, 'retry', { executionId });
		const execution = new WorkflowExecute(additionalData, 'retry', data);
		return await execution.processRunExecutionData(workflow);
	};
	// The earlier attempt was killed before it called anyone.
	const data = storedCopy(await harness.kill(node, []));
	data.executionData?.nodeExecutionStack.splice(0, Infinity, task());
	const bodies = acceptCalls(2);
	const first = await runPart(data);
	expect(bodies).toHaveLength(1);
	// The restarted n8n knows only what it has stored. The wait ends, and the loop runs the node again.
	jest.spyOn(BoundedMap.prototype, 'get').mockReturnValue(undefined);
	const waited = storedCopy(first.data);
	waited.executionData?.nodeExecutionStack.push(task());
	const second = await runPart(waited);
	expect(second.data.resultData.error?.message).toBeUndefined();
	expect(bodies).toHaveLength(2);
});
