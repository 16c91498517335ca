import {
	engineHarness,
	hookContext,
	makeWorkflow,
	nodeTypes,
	output,
	runWorkflow,
} from '../engine';

const harness = engineHarness();

describe.each(['callCompletedTrigger', 'chatDeliveryTrigger'])('%s', (type) => {
	it('returns the items of its webhook in a test execution in the editor', async () => {
		const node = harness.node(type);
		const items = [{ json: { call_id: 'a call' } }];
		const run = await runWorkflow(harness.credentials, makeWorkflow([node]), node, items, 'manual');
		expect(run.status).toBe('success');
		expect(output(run, 'Node')).toMatchObject(items);
	});

	it('registers nothing with the service', async () => {
		const node = harness.node(type);
		const context = hookContext(harness.credentials, makeWorkflow([node]), node);
		const methods = nodeTypes.getByNameAndVersion(node.type).webhookMethods?.default;
		expect(await methods?.checkExists.call(context)).toBe(true);
		expect(await methods?.create.call(context)).toBe(true);
		expect(await methods?.delete.call(context)).toBe(true);
	});
});
