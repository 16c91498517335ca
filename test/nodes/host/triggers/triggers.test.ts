import { clock } from '../../../../nodes/host/clock';
import { PollTime } from '../../../../nodes/host/triggers/poll';
import {
	activate,
	engineHarness,
	holdTimeouts,
	makeWorkflow,
	pollContext,
	skipSleeps,
} from '../../../engine';

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
	function timeOf(budgetMs?: number): PollTime {
		const node = harness.node('campaignCallsTrigger');
		return new PollTime(pollContext(makeWorkflow([node]), node, 'trigger', budgetMs));
	}

	test.each([
		['45 s, which is the default', 36_000],
		['10 minutes', 480_000],
	])('ends before the scheduler ends the check after %s', (_timeout, budgetMs) => {
		const timeIsUp = holdTimeouts();
		const time = timeOf(budgetMs);
		expect(time.end.aborted).toBe(false);
		timeIsUp(budgetMs);
		expect(time.end.aborted).toBe(true);
	});

	test('has no limit without the scheduler', () => {
		const timeout = jest.spyOn(AbortSignal, 'timeout');
		expect(timeOf().end.aborted).toBe(false);
		expect(timeout).not.toHaveBeenCalled();
	});

	test('is in the message, with both settings that limit it', async () => {
		const setTime = skipSleeps();
		const timeIsUp = holdTimeouts();
		const time = timeOf(36_000);
		const inTime = time.within(new Promise(() => undefined));
		setTime(new Date(clock.now() + 20_000).toISOString());
		timeIsUp(36_000);
		await expect(inTime).rejects.toMatchObject({
			message: "The check wasn't complete after 20 seconds",
			description: expect.stringMatching(
				/raise N8N_SCHEDULER_POLL_TIMEOUT and N8N_SCHEDULER_LEASE_DURATION\.$/,
			),
		});
	});
});
