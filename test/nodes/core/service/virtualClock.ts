import type { Clock } from '../../../../nodes/core/values/clock';

/** A clock that advances to the end of the next sleep when all callers sleep. */
export function virtualClock(start = 0): Clock & { slept: number[] } {
	let now = start;
	const slept: number[] = [];
	const sleepers: Array<{ until: number; wake: () => void }> = [];
	let isRunning = false;
	const run = async () => {
		isRunning = true;
		while (sleepers.length > 0) {
			// All pending work runs first.
			for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
			sleepers.sort((one, other) => one.until - other.until);
			const next = sleepers.shift();
			now = Math.max(now, next?.until ?? now);
			next?.wake();
		}
		isRunning = false;
	};
	return {
		slept,
		now: () => now,
		elapsed: () => now,
		sleep: async (ms) =>
			await new Promise<void>((wake) => {
				slept.push(ms);
				sleepers.push({ until: now + ms, wake });
				if (!isRunning) void run();
			}),
	};
}
