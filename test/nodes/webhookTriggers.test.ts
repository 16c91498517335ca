import { activate, engineHarness, hookContext, makeWorkflow, nodeTypes } from '../engine';

const harness = engineHarness();

describe.each(['callCompletedTrigger', 'chatDeliveryTrigger'])('%s', (type) => {
	it("is not published with 'Always Output Data', because repeats would start the workflow with an empty item", async () => {
		const node = harness.node(type, { alwaysOutputData: true });
		await expect(activate(harness.credentials, makeWorkflow([node]))).rejects.toThrow(
			"'Always Output Data' in the settings of this trigger must be off",
		);
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
