import { clock } from '../../../../../nodes/shared/n8n/http/accountClient';
import { PollTime } from '../../../../../nodes/shared/n8n/triggers/pollTime';
import {
	engineHarness,
	holdTimeouts,
	makeWorkflow,
	pollContext,
	skipSleeps,
} from '../../../../engine';

const harness = engineHarness();
afterEach(() => jest.restoreAllMocks());

function timeOf(budgetMs?: number): PollTime {
	const node = harness.node('campaignProgressTrigger');
	return new PollTime(pollContext(makeWorkflow([node]), node, 'trigger', budgetMs));
}

const SECONDS = 1_000;

it.each([
	['45 s, which is the default', 36 * SECONDS],
	['10 minutes', 480 * SECONDS],
])('a check that the scheduler ends after %s ends before that', (_timeout, budgetMs) => {
	const timeIsUp = holdTimeouts();
	const time = timeOf(budgetMs);
	const half = time.share(0.5);
	timeIsUp(budgetMs / 2);
	expect(half.aborted).toBe(true);
	expect(time.end.aborted).toBe(false);
	timeIsUp(budgetMs);
	expect(time.end.aborted).toBe(true);
});

it('without the scheduler, a check has no time limit', () => {
	const timeout = jest.spyOn(AbortSignal, 'timeout');
	const time = timeOf();
	expect(time.share(0.5).aborted).toBe(false);
	expect(timeout).not.toHaveBeenCalled();
});

it('says how much time has passed, and both settings that limit it', async () => {
	const setClock = skipSleeps();
	const timeIsUp = holdTimeouts();
	const time = timeOf(36 * SECONDS);
	const inTime = time.within(time.share(0.5), new Promise(() => undefined));
	setClock(new Date(clock.now() + 20 * SECONDS).toISOString());
	timeIsUp(18 * SECONDS);
	await expect(inTime).rejects.toMatchObject({
		message: "The check wasn't complete after 20 seconds",
		description: expect.stringMatching(
			/raise N8N_SCHEDULER_POLL_TIMEOUT and N8N_SCHEDULER_LEASE_DURATION\.$/,
		),
	});
});
