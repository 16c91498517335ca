import { endOfCheck } from '../../../../nodes/CampaignCallsTrigger/check';
import { activate, engineHarness, holdTimeouts, makeWorkflow, pollContext } from '../../../engine';

const harness = engineHarness();
afterEach(() => jest.restoreAllMocks());

test.each(['callCompletedTrigger', 'chatDeliveryTrigger'])(
	"%s is not published with 'Always Output Data', because repeats would start the workflow with an empty item",
	async (type) => {
		const active = await activate(makeWorkflow([harness.node(type)]));
		await active.stop();
		expect(active.errors).toEqual([]);
		const node = harness.node(type, { alwaysOutputData: true });
		await expect(activate(makeWorkflow([node]))).rejects.toMatchObject({
			message: "'Always Output Data' in the settings of this trigger must be off",
			description: expect.stringContaining('In n8n, turn it off.'),
		});
	},
);

describe('the time of a check', () => {
	function endAfter(budgetMs?: number): AbortSignal {
		const node = harness.node('campaignCallsTrigger');
		return endOfCheck(pollContext(makeWorkflow([node]), node, 'trigger', budgetMs));
	}

	test('ends before the scheduler ends the check', () => {
		const timeIsUp = holdTimeouts();
		const end = endAfter(36_000);
		expect(end.aborted).toBe(false);
		timeIsUp(36_000);
		expect(end.aborted).toBe(true);
	});

	test('has no limit without the scheduler', () => {
		const timeout = jest.spyOn(AbortSignal, 'timeout');
		expect(endAfter().aborted).toBe(false);
		expect(timeout).not.toHaveBeenCalled();
	});
});
