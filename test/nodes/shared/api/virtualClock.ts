import type { Clock } from '../../../../nodes/shared/clock';

/** Time that goes on by itself to the next sleeper's end whenever everybody sleeps. */
export function virtualClock(): Clock {
	let now = 0;
	const sleepers: Array<{ until: number; wake: () => void }> = [];
	let isRunning = false;
	const run = async () => {
		isRunning = true;
		while (sleepers.length > 0) {
			// Whatever can still be done at this moment is done first.
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
