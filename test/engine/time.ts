import { clock } from '../../nodes/host/clock';
import { FastClock } from './fastClock';

/** The time at which `performance.now()` was 0, in epoch milliseconds. */
const ORIGIN = Date.now() - performance.now();

/** Makes `clock.now` and `clock.elapsed` follow `time` (epoch milliseconds), until mocks are restored. */
export function mockTime(time: () => number): void {
	jest.spyOn(clock, 'now').mockImplementation(time);
	jest.spyOn(clock, 'elapsed').mockImplementation(() => time() - ORIGIN);
}

/**
 * Makes each `clock.sleep` end immediately and move the clock by its length, until mocks are restored.
 *
 * @param time epoch milliseconds
 * @returns a function that sets the clock to an ISO time
 */
export function skipSleeps(time = Date.now()): (iso: string) => void {
	mockTime(() => time);
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		time += ms;
		await new Promise((resolve) => setImmediate(resolve));
	});
	return (iso) => (time = Date.parse(iso));
}

/** At the start of each test of a file, it's this time, and mocks are restored at its end. Otherwise as `skipSleeps`. */
export function useTime(start: string): (iso: string) => void {
	let setTime: ReturnType<typeof skipSleeps> | undefined;
	beforeEach(() => (setTime = skipSleeps(Date.parse(start))));
	afterEach(() => jest.restoreAllMocks());
	return (iso) => setTime?.(iso);
}

/** Makes each `clock.sleep` end immediately, in all tests of a file or a `describe`. Returns its spy in the test. */
export function useNoWaits(): () => jest.SpyInstance {
	let waits: jest.SpyInstance;
	beforeEach(() => {
		waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
	});
	afterEach(() => waits.mockRestore());
	return () => waits;
}

const fastClock = new FastClock(0);

/** Makes the clock of the nodes run that much faster, as a `FastClock`, until mocks are restored. */
export function speedUp(times: number): void {
	fastClock.times = times;
	jest.spyOn(clock, 'elapsed').mockImplementation(() => fastClock.elapsed());
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => await fastClock.sleep(ms));
}

/** Lets this time pass at once on the clock that `speedUp` makes faster. */
export function passTime(ms: number): void {
	fastClock.pass(ms);
}

/** Makes `AbortSignal.timeout` follow the clock of the nodes, which `speedUp` makes faster. */
export function timeoutsByClock(): void {
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
		const controller = new AbortController();
		void clock.sleep(ms).then(() => controller.abort());
		return controller.signal;
	});
}

/** Makes `AbortSignal.timeout` abort only when the test calls the returned function with the same time. */
export function holdTimeouts(): (ms: number) => void {
	const held: Array<{ ms: number; controller: AbortController }> = [];
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
		const controller = new AbortController();
		held.push({ ms, controller });
		return controller.signal;
	});
	return (passed) => {
		for (const { ms, controller } of held) if (ms === passed) controller.abort();
	};
}
