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
		await waiting(waitBy('webhook', { waitLimit: 3, waitLimitUnit: 'minutes' }));
		await last();
		// n8n omits an empty object, and an empty body would have no calls.
		for (const body of pings) expect(body).toEqual({ poll: true });
		expect(waits()).toEqual([500, 2_000, 8_000, 32_000, 128_000, 10_000]);
	});

	it('pings at most every half hour', async () => {
		timeFlies();
		const { last } = answerPings(200, 200, 200, 200, 200, 200, 200, 200, 409);
		await waiting(waitBy('webhook', { waitLimitUnit: 'days' }));
		await last();
		expect(waits().slice(5)).toEqual([512_000, 1_800_000, 1_800_000, 1_800_000]);
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

	it.each([502, 524, 429, 401, 503])(
		'a %d at its own address does not end the pings',
		async (status) => {
			timeFlies();
			const { last } = answerPings(200, status, status, 409);
			await waiting(byWebhook);
			await last();
			expect(waits()).toEqual([500, 2_000, 8_000, 32_000]);
		},
	);

	it("after a failed ping at the time limit, it pings again until n8n's own limit", async () => {
		timeFlies();
		const { last } = answerPings(200, 200, 502, 502, 200);
		await waiting(waitBy('webhook', { waitLimit: 10, waitLimitUnit: 'seconds' }));
		await last();
		expect(waits()).toEqual([500, 2_000, 8_000, 10_000, 10_000]);
	});

	it('stops when n8n returns the page of an approval that has ended', async () => {
		timeFlies();
		const { last } = answerPings(409, 200, '<html>No action required</html>');
		const question = { message: 'May we?', yesValues: 'yes', noValues: 'no' };
		await waiting({ operation: 'sendAndWait', ...question });
		await last();
		await untilIdle();
		expect(waits()).toHaveLength(3);
	});

	it('ends if n8n never stores the execution', async () => {
		timeFlies();
		const { last } = answerPings(409, 409, 409, 409, 409, 409, 409);
		await waiting(byWebhook);
		await last();
		await untilIdle();
		expect(waits()).toHaveLength(7);
	});
});
