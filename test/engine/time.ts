import { clock } from '../../nodes/shared/n8n/http/accountClient';

/** The time at which `performance.now()` was 0, in epoch milliseconds. */
const ORIGIN = Date.now() - performance.now();

/** Makes `clock.now` and `clock.elapsed` follow `time` (epoch milliseconds), until mocks are restored. */
export function mockTime(time: () => number): void {
	jest.spyOn(clock, 'now').mockImplementation(time);
	jest.spyOn(clock, 'elapsed').mockImplementation(() => time() - ORIGIN);
}

/** Lets the test move the time, as with `jest.advanceTimersByTimeAsync`. */
export function useFakeTime(): void {
	jest.useFakeTimers();
	mockTime(() => Date.now());
}

/** Makes each `clock.sleep` end immediately and move the clock by its length, until mocks are restored. */
export function skipSleeps(): void {
	let time = Date.now();
	mockTime(() => time);
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		time += ms;
		await new Promise((resolve) => setImmediate(resolve));
	});
}
