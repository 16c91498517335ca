import { setImmediate } from 'node:timers/promises';
import range from 'lodash/range';
import uniq from 'lodash/uniq';
import { backoffMs, duration, pause, settledOrTimeout } from '../../../../nodes/core/values/clock';
import { forEachWithPauses, Pauses } from '../../../../nodes/core/values/pauses';
import { heapInUse } from '../../../engine/heap';
import { timerClock } from '../../../engine/timerClock';

const never = new AbortController().signal;

/** Moves the time of the clock only when a test advances it. Returns the sleeps. */
function fakeSleeps() {
	jest.useFakeTimers();
	return jest.spyOn(timerClock, 'sleep');
}
afterEach(() => {
	jest.useRealTimers();
	jest.restoreAllMocks();
});

test.each([
	[119_001, '2 minutes'],
	[118_001, '119 seconds'],
	[119 * 60_000, '119 minutes'],
	[120 * 60_000, '2 hours'],
])('%i ms are %s', (ms, text) => {
	expect(duration(ms)).toBe(text);
});

test.each([
	[1, 1_000, [800, 1_000, 1_200]],
	[2, 2_000, [1_600, 2_000, 2_400]],
	[9, 30_000, [24_000, 30_000, 30_000]],
])('wait %i is %i ms, spread by chance, and never above the longest', (repetition, ms, spread) => {
	const backoff = { firstMs: 1_000, maxMs: 30_000 };
	expect(backoffMs(backoff, repetition)).toBe(ms);
	const spreadBy = (chance: number) => {
		jest.spyOn(Math, 'random').mockReturnValue(chance);
		return backoffMs({ ...backoff, jitter: 0.2 }, repetition);
	};
	expect([0, 0.5, 1].map(spreadBy)).toEqual(spread);
});

describe('a pause', () => {
	test('waits in slices of at most a second, and leaves no listener behind', async () => {
		const sleeps = fakeSleeps();
		const { signal } = new AbortController();
		const added = jest.spyOn(signal, 'addEventListener');
		const removed = jest.spyOn(signal, 'removeEventListener');
		const paused = pause(timerClock, 2_500, signal);
		await jest.advanceTimersByTimeAsync(2_499);
		expect(sleeps.mock.calls).toEqual([[1_000], [1_000], [500]]);
		await jest.advanceTimersByTimeAsync(1);
		expect(await paused).toBe(true);
		expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
			added.mock.calls.map(([, listener]) => listener),
		);
	});

	test('ends when its signal aborts, and starts no other slice', async () => {
		const sleeps = fakeSleeps();
		const stop = new AbortController();
		const paused = pause(timerClock, 60_000, stop.signal);
		await jest.advanceTimersByTimeAsync(1_500);
		stop.abort();
		expect(await paused).toBe(false);
		expect(await pause(timerClock, 5_000, stop.signal)).toBe(false);
		await jest.advanceTimersByTimeAsync(60_000);
		expect(sleeps.mock.calls).toEqual([[1_000], [1_000]]);
	});

	test('lasts equally long if the system clock changes, and uses no memory for the time that has passed', async () => {
		let seconds = 0;
		const heap: number[] = [];
		const sleep = async () => {
			seconds++;
			if (seconds === 1_000 || seconds === 21_000) heap.push(heapInUse());
			await Promise.resolve();
		};
		const elapsed = () => 1_000 * seconds;
		const now = () => (seconds % 2 === 0 ? -86_400_000 : 86_400_000);
		await pause({ now, elapsed, sleep }, 21_000_000, never);
		expect(seconds).toBe(21_000);
		const [start = 0, end = Infinity] = heap;
		expect(end - start).toBeLessThan(1_000_000);
	});
});

test.each<[string, Promise<unknown>, hasEnded: boolean[], sleeps: number]>([
	['resolves', Promise.resolve(), [true, true, true], 1],
	['rejects', Promise.reject(new Error('no')), [true, true, true], 1],
	['never settles', new Promise(() => {}), [false, false, true], 5],
])('the wait for a promise that %s ends in time, and starts no other sleep', async (...one) => {
	const [, settling, hasEnded, sleeps] = one;
	const asked = fakeSleeps();
	let isOver = false;
	const end = () => (isOver = true);
	void settledOrTimeout(timerClock, 5_000, settling).then(end, end);
	const seen: boolean[] = [];
	for (const ms of [0, 4_999, 1]) {
		await jest.advanceTimersByTimeAsync(ms);
		seen.push(isOver);
	}
	expect([seen, asked.mock.calls.length]).toEqual([hasEnded, sleeps]);
});

describe('a long loop', () => {
	/** A clock that only the work moves, in milliseconds. */
	let now = 0;
	beforeEach(() => {
		jest.spyOn(performance, 'now').mockImplementation(() => now);
	});

	test('lets other work continue every 10 ms, and keeps its order', async () => {
		const handled: number[] = [];
		const seenByOther: number[] = [];
		const handling = forEachWithPauses(range(50), (entry) => {
			handled.push(entry);
			now += 1;
		});
		while (handled.length < 50) {
			seenByOther.push(handled.length);
			await setImmediate();
		}
		await handling;
		expect(handled).toEqual(range(50));
		expect(uniq(seenByOther)).toEqual([10, 20, 30, 40]);
	});

	test('of short steps looks at the clock after as many as given', () => {
		const pauses = new Pauses(3);
		now += 10;
		expect([pauses.isDue(), pauses.isDue(), pauses.isDue()]).toEqual([false, false, true]);
	});
});
