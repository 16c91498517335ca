import { clock } from '../../nodes/shared/n8n/http/accountClient';

/** The date at which the elapsed time of this process began. */
const ORIGIN = Date.now() - performance.now();

/** From now on time passes as said, in dates and in waits; until mocks are restored. */
export function mockTime(time: () => number): void {
	jest.spyOn(clock, 'now').mockImplementation(time);
	jest.spyOn(clock, 'elapsed').mockImplementation(() => time() - ORIGIN);
}

/** From now on tests move the time, as by `jest.advanceTimersByTimeAsync`. */
export function useFakeTime(): void {
	jest.useFakeTimers();
	mockTime(() => Date.now());
}

/** From now on each sleep of the nodes is over at once, and its time has passed; until mocks are restored. */
export function skipSleeps(): void {
	let time = Date.now();
	mockTime(() => time);
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		time += ms;
		await new Promise((resolve) => setImmediate(resolve));
	});
}
