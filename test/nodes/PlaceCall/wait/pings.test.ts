import type { INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { deferred } from '../../../../nodes/shared/clock';
import { eventually, until, untilIdle } from '../../../n8n/until';
import { dialects } from '../../../simulator';
import { waitBy } from '../placeCallHarness';
import { N8N } from '../waitingExecutions';
import { byWebhook, harness, PINGS, waitHarness } from './waitHarness';

// The dialect makes no difference for these.
describe('pings of the resume URL', () => {
	const { waiting, service, waits, timeFlies, answerPings } = waitHarness(dialects.plain);

	it('finds by a ping the calls that were completed before the wait, and stops pinging', async () => {
		service().setAutoComplete({
			afterMs: 'beforeResponse',
			delivery: { url: 'http://127.0.0.1:9' },
		});
		const resumed = deferred<null>();
		timeFlies(async () => {
			await resumed.promise;
		});
		const { arrive } = await waiting(byWebhook, 2);
		let pings = 0;
		nock(N8N)
			.post(PINGS)
			.times(5)
			.optionally()
			.reply(() => [++pings === 1 ? 200 : 404, {}]);
		expect((await arrive()).items).toMatchObject([{ timed_out: false }, { timed_out: false }]);
		resumed.resolve(null);
		await eventually(() => pings === 2);
		await untilIdle();
		expect(pings).toBe(2);
	});

	it('pings soon at first, then rarely, and finally at the time limit', async () => {
		timeFlies();
		const { pings, last } = answerPings(409, 409, 200, 200, 200, 200);
		await waiting(waitBy('webhook', { waitMinutes: 3 }));
		await last();
		// n8n omits an empty object, and an empty body would have no calls.
		for (const body of pings) expect(body).toEqual({ poll: true });
		expect(waits()).toEqual([500, 2_000, 8_000, 32_000, 128_000, 10_000]);
	});

	it('the notes of the calls stay until n8n has stored the execution', async () => {
		await waiting(byWebhook, 2);
		// One for each call, and one for the execution.
		expect(harness.store.size).toBe(3);
		harness.store.clear();
		timeFlies();
		const { last, onPing } = answerPings(409, 200, 404);
		const notes: number[] = [];
		onPing(() => notes.push(harness.store.size));
		await waiting(byWebhook, 2);
		await last();
		expect(notes).toEqual([3, 3, 0]);
		await until('the notes to be gone', async () => {
			return await Promise.resolve(harness.store.size === 0);
		});
	});

	const ASK = { message: 'May we?', yesValues: 'yes', noValues: 'no' };
	const DAY = waitBy('webhook', { waitMinutes: 24 * 60 });
	const TEN_SECONDS = waitBy('webhook', { waitMinutes: 1 / 6 });
	const ALL_OK = [200, 200, 200, 200, 200, 200, 200, 200];

	it.each<[string, INodeParameters, Array<number | string>, seconds: number[]]>([
		['at most every half hour', DAY, [...ALL_OK, 409], [0.5, 2, 8, 32, 128, 512, 1800, 1800, 1800]],
		...[502, 524, 429, 401, 503].map((status): [string, INodeParameters, number[], number[]] => [
			`also after a ${status}, which may be that of a proxy`,
			byWebhook,
			[200, status, status, 409],
			[0.5, 2, 8, 32],
		]),
		[
			"until n8n's own limit after a failed ping at the time limit",
			TEN_SECONDS,
			[200, 200, 502, 502, 200],
			[0.5, 2, 8, 10, 10],
		],
		[
			'until n8n returns the page of an approval that has ended',
			{ operation: 'sendAndWait', ...ASK },
			[409, 200, '<html>No action required</html>'],
			[0.5, 2, 8],
		],
		[
			'seven times if n8n never stores the execution',
			byWebhook,
			[409, 409, 409, 409, 409, 409, 409],
			[0.5, 2, 8, 32, 128, 512, 1800],
		],
	])('pings %s', async (_when, parameters, answers, seconds) => {
		timeFlies();
		const { last } = answerPings(...answers);
		await waiting(parameters);
		await last();
		await untilIdle();
		expect(waits()).toEqual(seconds.map((each) => each * 1_000));
	});
});
