import nock from 'nock';
import { engineTool } from '../../../engine';
import { faultOf, waitBy } from '../placeCallHarness';
import { N8N } from '../waitingExecutions';
import { byWebhook, harness } from './waitHarness';

describe('no call is placed', () => {
	it('as a tool, which cannot wait', async () => {
		const answer = await engineTool(harness.placeCallNode(byWebhook))();
		expect(answer).toMatchObject({
			outcome: 'not_sent',
			what_happened: "A tool can't wait for the completion webhook, so no call was placed.",
			next_step: expect.stringContaining('the person who set up this tool must fix this'),
		});
	});

	it.each([
		['Place', byWebhook, "set 'Wait for Completion' to 'By Reading the Call'"],
		[
			'Ask and Wait',
			{ operation: 'sendAndWait', message: 'May we ship?', yesValues: 'yes', noValues: 'no' },
			"add 'Wait for Completion' in 'Options', and set 'How' to 'By Reading the Call'",
		],
	])('if n8n cannot reach its own webhook URL, with %s', async (_name, parameters, advice) => {
		nock(N8N)
			.get(/^\/webhook-waiting\//)
			.replyWithError(Object.assign(new Error('rejected'), { code: 'ECONNREFUSED' }));
		const { message, description } = faultOf(await harness.place(parameters));
		expect(message).toBe("n8n can't reach its own webhook URL, so no call was placed");
		expect(description).toContain(advice);
	});

	it.each([200, 502])('if something else responds with %d at that URL', async (status) => {
		nock(N8N)
			.get(/^\/webhook-waiting\//)
			.reply(status, {});
		expect(faultOf(await harness.place(byWebhook)).message).toContain('no call was placed');
	});

	it.each([0, -1])('with the time limit %d', async (waitLimit) => {
		const run = await harness.place(waitBy('webhook', { waitLimit }));
		expect(faultOf(run)).toMatchObject({
			message: "'Time Limit' must be more than 0, so no call was placed",
			description: 'Enter a number above 0, and choose its unit.',
		});
	});
});
