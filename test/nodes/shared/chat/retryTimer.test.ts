import { RetryTimer } from '../../../../nodes/shared/chat/retryTimer';
import { FakeClock } from './fakes';

const { signal } = new AbortController();

function timer(ms: number) {
	const clock = new FakeClock();
	const retryTimer = new RetryTimer(clock);
	retryTimer.schedule(ms);
	return { clock, retryTimer };
}

test('an attempt that is due is not early, even if its timer fires a little early', async () => {
	const { clock, retryTimer } = timer(500);
	jest.spyOn(clock, 'elapsed').mockReturnValue(clock.elapsed());
	const waiting = retryTimer.wait(signal);
	await clock.advance(500);
	expect(await waiting).toBe(true);
	expect(retryTimer.isEarly).toBe(false);
});

test('a requested attempt is early, and the next one is still due at its time', async () => {
	const { clock, retryTimer } = timer(20_000);
	const early = retryTimer.wait(signal);
	await clock.advance(5_000);
	retryTimer.request();
	expect(await early).toBe(true);
	expect([retryTimer.isEarly, retryTimer.leftMs]).toEqual([true, 15_000]);
	const due = retryTimer.wait(signal);
	await clock.advance(15_000);
	expect(await due).toBe(true);
	expect(retryTimer.isEarly).toBe(false);
});

test('a request during an attempt makes the next wait short', async () => {
	const { clock, retryTimer } = timer(20_000);
	retryTimer.request();
	const waiting = retryTimer.wait(signal);
	await clock.advance(1_000);
	expect(await waiting).toBe(true);
	expect(retryTimer.isEarly).toBe(true);
});
