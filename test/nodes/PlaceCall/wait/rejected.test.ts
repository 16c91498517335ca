import nock from 'nock';
import { faultOf, waitBy } from '../placeCallHarness';
import { N8N } from '../waitingExecutions';
import { byWebhook, harness } from './waitHarness';

describe('no call is placed', () => {
	const ask = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };

	it.each([byWebhook, ask])('if n8n cannot reach its own webhook URL', async (parameters) => {
		nock(N8N)
			.get(/^\/webhook-waiting\//)
			.replyWithError(Object.assign(new Error('rejected'), { code: 'ECONNREFUSED' }));
		const { message, description } = faultOf(await harness.place(parameters));
		expect(message).toBe("n8n can't reach its own webhook URL, so no call was placed");
		expect(description).toContain("choose 'By Reading the Call' in 'Wait for Completion'");
	});

	it.each([200, 502])('if something else responds with %d at that URL', async (status) => {
		nock(N8N)
			.get(/^\/webhook-waiting\//)
			.reply(status, {});
		expect(faultOf(await harness.place(byWebhook)).message).toContain('no call was placed');
	});

	it.each([0, -1])('with the time limit %d', async (waitMinutes) => {
		const run = await harness.place(waitBy('webhook', { waitMinutes }));
		expect(faultOf(run)).toMatchObject({
			message: `'Time Limit (Minutes)' must be more than 0 (got ${waitMinutes})`,
			description: 'Enter a number above 0.',
		});
	});
});
