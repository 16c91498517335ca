import { engineHarness, makeWorkflow, runWorkflow } from '../../../engine';

const harness = engineHarness();

test.each(['dnd', 'getCall', 'chatSession', 'agents'])(
	'%s: an operation that an imported workflow makes up is told, and nothing is sent',
	async (type) => {
		const node = harness.node(type, { parameters: { operation: 'drop' } });
		const run = await runWorkflow(harness.credentials, makeWorkflow([node]), node, [{ json: {} }]);
		expect(run.data.resultData.error).toMatchObject({
			message: 'This node has no such operation',
			description: 'Open the node and choose an operation from the list.',
		});
	},
);
