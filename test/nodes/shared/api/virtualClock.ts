import type { Clock } from '../../../../nodes/shared/clock';

/** A clock that advances to the end of the next sleep when all callers sleep. */
export function virtualClock(): Clock {
	let now = 0;
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
		now: () => now,
		elapsed: () => now,
		sleep: async (ms) =>
			await new Promise<void>((wake) => {
				sleepers.push({ until: now + ms, wake });
				if (!isRunning) void run();
			}),
	};
}
