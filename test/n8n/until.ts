import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats the probe until it returns a value. On timeout, throws with the probe's last error. */
export async function until<T>(
	what: string,
	probe: () => Promise<T | undefined | false>,
	{ timeout = 30_000, every = 100 } = {},
): Promise<T> {
	const end = Date.now() + timeout;
	for (;;) {
		let reason = '';
		try {
			const value = await probe();
			if (value !== undefined && value !== false) return value;
		} catch (error) {
			if (error instanceof UnrecoverableError) throw error;
			reason = `: ${String(error)}`;
		}
		if (Date.now() >= end) throw new Error(`Waited ${timeout} ms for ${what}${reason}`);
		await sleep(every);
	}
}

/** Thrown by a probe if waiting longer can't help. */
export class UnrecoverableError extends Error {}
