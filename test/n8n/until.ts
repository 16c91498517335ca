import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Repeats the probe until it returns a value. On timeout, throws with the probe's last error. The timeout counts the
 * pauses between the probes, because a probe takes longer on a busy machine.
 */
export async function until<T>(
	what: string,
	probe: () => Promise<T | undefined | false>,
	{ timeout = 30_000, every = 100 } = {},
): Promise<T> {
	for (let waited = 0; ; waited += every) {
		let reason = '';
		try {
			const value = await probe();
			if (value !== undefined && value !== false) return value;
		} catch (error) {
			if (error instanceof UnrecoverableError) throw error;
			reason = `: ${String(error)}`;
		}
		if (waited >= timeout) throw new Error(`Waited ${timeout} ms for ${what}${reason}`);
		await sleep(every);
	}
}

/** Waits for a state of this process. */
export async function eventually(condition: () => boolean): Promise<void> {
	await until('the expected state', async () => Promise.resolve(condition()), { every: 5 });
}

/** Thrown by a probe if waiting longer can't help. */
export class UnrecoverableError extends Error {}
