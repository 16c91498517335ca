import { activate, engineHarness, makeWorkflow } from '../../../../engine';

const harness = engineHarness();

describe.each(['callCompletedTrigger', 'chatDeliveryTrigger'])('%s', (type) => {
	test('is published', async () => {
		const active = await activate(makeWorkflow([harness.node(type)]));
		await active.stop();
		expect(active.errors).toEqual([]);
	});

	test("is not published with 'Always Output Data', because repeats would start the workflow with an empty item", async () => {
		const node = harness.node(type, { alwaysOutputData: true });
		await expect(activate(makeWorkflow([node]))).rejects.toMatchObject({
			message: "'Always Output Data' in the settings of this trigger must be off",
			description: expect.stringContaining('Turn it off.'),
		});
	});
});
