import { backoffMs, duration, pause, settledOrTimeout } from '../../../nodes/shared/clock';
import { heapInUse } from '../../engine/heap';
import { FakeClock } from '../../engine/fakeClock';

test.each([
	[119_001, '2 minutes'],
	[118_001, '119 seconds'],
	[119 * 60_000, '119 minutes'],
	[120 * 60_000, '2 hours'],
])('%i ms are %s', (ms, text) => {
	expect(duration(ms)).toBe(text);
});

// Without jitter: test/nodes/shared/chat/reconnectPolicy and calls/callWatch.
test('a backoff is spread by chance to both sides, never above the longest', () => {
	const backoff = { firstMs: 1_000, maxMs: 30_000, jitter: 0.2 };
	const spread = (step: number) =>
		[0, 0.5, 1].map((chance) => backoffMs(backoff, step, () => chance));
	expect(spread(2)).toEqual([1_600, 2_000, 2_400]);
	expect(spread(9)).toEqual([24_000, 30_000, 30_000]);
});

describe('pause', () => {
	const never = new AbortController().signal;

	it('waits in slices of at most a second', async () => {
		const clock = new FakeClock();
		const paused = pause(clock, 2_500, never);
		await clock.advance(2_499);
		expect(clock.requested).toEqual([1000, 1000, 500]);
		await clock.advance(1);
		expect(await paused).toBe(true);
		expect(clock.pending).toBe(0);
	});

	it('returns immediately without a time', async () => {
		const clock = new FakeClock();
		expect(await pause(clock, 0, never)).toBe(true);
		expect(clock.requested).toEqual([]);
	});

	it('returns immediately when aborted, and starts no other slice', async () => {
		const clock = new FakeClock();
		const stop = new AbortController();
		const paused = pause(clock, 60_000, stop.signal);
		await clock.advance(1_500);
		stop.abort();
		expect(await paused).toBe(false);
		await clock.advance(60_000);
		expect(clock.requested).toHaveLength(2);
		expect(await pause(clock, 5_000, stop.signal)).toBe(false);
		expect(clock.requested).toHaveLength(2);
	});

	it('uses no memory for the seconds that have passed', async () => {
		let seconds = 0;
		const figures: number[] = [];
		const elapsed = () => 1_000 * seconds;
		const sleep = async () => {
			seconds++;
			if (seconds === 1_000 || seconds === 21_000) figures.push(heapInUse());
		};
		await pause({ now: elapsed, elapsed, sleep }, 21_000_000, never);
		const [start = 0, end = Infinity] = figures;
		expect(end - start).toBeLessThan(1_000_000);
	});

	it('removes its listener from the signal', async () => {
		const clock = new FakeClock();
		const { signal } = new AbortController();
		const added = jest.spyOn(signal, 'addEventListener');
		const removed = jest.spyOn(signal, 'removeEventListener');
		const paused = pause(clock, 500, signal);
		await clock.advance(500);
		await paused;
		expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
			added.mock.calls.map(([, listener]) => listener),
		);
		expect(added).toHaveBeenCalledTimes(1);
	});
});

describe('settledOrTimeout', () => {
	const never = new Promise(() => {});

	test.each([
		['resolves', Promise.resolve()],
		['rejects', Promise.reject(new Error('no'))],
	])(
		'a promise that %s in time ends the wait, and leaves no sleep behind',
		async (_how, settling) => {
			const clock = new FakeClock();
			await settledOrTimeout(clock, 120_000, settling).catch(() => undefined);
			await clock.advance(1_000);
			expect([clock.requested, clock.pending]).toEqual([[1_000], 0]);
		},
	);

	test('the wait for a promise that never settles ends when the time has passed', async () => {
		const clock = new FakeClock();
		let hasEnded = false;
		void settledOrTimeout(clock, 5_000, never).then(() => (hasEnded = true));
		await clock.advance(4_999);
		expect(hasEnded).toBe(false);
		await clock.advance(1);
		expect(hasEnded).toBe(true);
	});
});
