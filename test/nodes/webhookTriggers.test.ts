import { activate, engineHarness, makeWorkflow } from '../engine';

const harness = engineHarness();

test.each(['callCompletedTrigger', 'chatDeliveryTrigger'])(
	"%s is not published with 'Always Output Data', because repeats would start the workflow with an empty item",
	async (type) => {
		const node = harness.node(type, { alwaysOutputData: true });
		await expect(activate(makeWorkflow([node]))).rejects.toMatchObject({
			message: "'Always Output Data' in the settings of this trigger must be off",
			description: expect.stringContaining('Turn it off.'),
		});
	},
);
