import { WorkflowExecute } from 'n8n-core';
import type { IPinData, IRun, IRunData } from 'n8n-workflow';
import { makeAdditionalData, oneNodeWorkflow, output } from '../../engine';
import { acceptCalls, itemsOf, people, perItem, phone, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();

/** A workflow in n8n's editor: Start → Place Call → After. */
function editor(over: Parameters<typeof harness.placeCallNode>[1] = {}) {
	const { workflow, start } = oneNodeWorkflow(harness.placeCallNode(perItem, over), ['After']);
	const execute = () =>
		new WorkflowExecute(makeAdditionalData(harness.credentials, 'manual'), 'manual');
	const input = { Start: itemsOf(people(2)) };
	return {
		/** *Execute workflow*. */
		executeAll: async (pinned: IPinData = {}): Promise<IRun> =>
			await execute().run({ workflow, startNode: start, pinData: { ...input, ...pinned } }),
		/** *Execute step*, with what the editor shows of the executions before. */
		executeStep: async (nodeName: string, shown: IRunData): Promise<IRun> =>
			await execute().runPartialWorkflow2(workflow, structuredClone(shown), input, [], {
				nodeName,
				mode: 'inclusive',
			}),
	};
}

const dataOf = (run: IRun): IRunData => run.data.resultData.runData;
const idsOf = (run: IRun, node = 'Node') => output(run, node).map(({ json }) => json.call_id);

it('pinned output: nobody is called, and later nodes get it', async () => {
	const pinned = itemsOf([{ call_id: 'pinned' }]);
	const run = await editor().executeAll({ Node: pinned });
	expect(run.status).toBe('success');
	expect(idsOf(run, 'After')).toEqual(['pinned']);
});

it('a disabled node calls nobody, and passes its input on', async () => {
	const run = await editor({ disabled: true }).executeAll();
	expect(output(run, 'After').map(({ json }) => json.phone)).toEqual([phone(0), phone(1)]);
});

describe('Execute step', () => {
	it('of a later node calls nobody again', async () => {
		acceptCalls(2);
		const { executeAll, executeStep } = editor();
		const before = await executeAll();
		const run = await executeStep('After', dataOf(before));
		expect(run.status).toBe('success');
		expect(idsOf(run, 'After')).toEqual(idsOf(before));
	});

	it('of the node places the calls again, and records of the execution before do not matter', async () => {
		const placed = acceptCalls(4);
		const { executeAll, executeStep } = editor();
		const before = await executeAll();
		const run = await executeStep('Node', dataOf(before));
		expect(run.status).toBe('success');
		expect(placed).toHaveLength(4);
		expect(harness.store.size).toBe(0);
	});
});
