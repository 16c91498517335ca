import { backoffMs } from '../../../../nodes/shared/chat/backoff';
import { pause } from '../../../../nodes/shared/chat/pause';
import { FakeClock, settle } from './fakes';

describe('backoffMs', () => {
	it('is about 1, 2, 4, 8 … s and never above 30 s', () => {
		const steps = [1, 2, 3, 4, 5, 6, 7, 40].map((attempt) => backoffMs(attempt, () => 0.5));
		expect(steps).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
	});

	it('spreads by a fifth to both sides', () => {
		expect([0, 1].map((chance) => backoffMs(2, () => chance))).toEqual([1600, 2400]);
		expect([0, 1].map((chance) => backoffMs(9, () => chance))).toEqual([24000, 30000]);
	});
});

describe('pause', () => {
	const never = new AbortController().signal;

	it('waits in slices of at most a second', async () => {
		const clock = new FakeClock();
		const paused = pause(clock, 2_500, never);
		await clock.advance(2_499);
		expect(clock.asked).toEqual([1000, 1000, 500]);
		await clock.advance(1);
		expect(await paused).toBe(true);
		expect(clock.pending).toBe(0);
	});

	it('does not wait at all for nothing', async () => {
		const clock = new FakeClock();
		expect(await pause(clock, 0, never)).toBe(true);
		expect(clock.asked).toEqual([]);
	});

	it('returns at once when aborted and starts no further slice', async () => {
		const clock = new FakeClock();
		const stop = new AbortController();
		const paused = pause(clock, 60_000, stop.signal);
		await clock.advance(1_500);
		stop.abort();
		expect(await paused).toBe(false);
		await clock.advance(60_000);
		expect(clock.asked).toHaveLength(2);
		expect(await pause(clock, 5_000, stop.signal)).toBe(false);
		expect(clock.asked).toHaveLength(2);
	});

	it('takes its listener off the signal', async () => {
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

	it('ends in time though the system clock is set back', async () => {
		const clock = new FakeClock();
		let over = false;
		void pause(clock, 3_000, never).then(() => {
			over = true;
		});
		await settle();
		clock.set(clock.now() - 3_600_000);
		await clock.advance(3_000);
		await settle();
		expect(over).toBe(true);
	});

	it('ends early when the clock jumps ahead, as after a suspended machine', async () => {
		const clock = new FakeClock();
		const paused = pause(clock, 60_000, never);
		await settle();
		clock.set(clock.now() + 120_000);
		await clock.advance(1_000);
		expect(await paused).toBe(true);
	});
});
