import type { Clock } from '../../nodes/core/values/clock';

/** A clock that `jest.useFakeTimers` replaces. */
export const timerClock: Clock = {
	now: () => Date.now(),
	elapsed: () => performance.now(),
	sleep: async (ms) =>
		await new Promise((resolve) => {
			setTimeout(resolve, ms);
		}),
};
