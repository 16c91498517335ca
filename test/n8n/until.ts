import { performance } from 'node:perf_hooks';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

type Probed<T> = T | undefined | false;

/**
 * Repeats the probe until it returns a value. On timeout, throws with the probe's last error. The timeout counts the
 * pauses between the probes, because a probe takes longer on a busy machine.
 */
export async function until<T>(
	what: string,
	probe: () => Probed<T> | Promise<Probed<T>>,
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
	await until('the expected state', condition, { every: 5 });
}

const IDLE_TURNS = 50;

/**
 * Waits until everything has happened that needs no clock: responses of nock, and requests and frames between sockets of
 * this process. Counts turns of the event loop, so it waits longer on a slow machine.
 */
export async function untilIdle(): Promise<void> {
	let before = -1;
	for (let turn = 0; turn < IDLE_TURNS; turn++) {
		const { events } = performance.nodeTiming.uvMetricsInfo;
		// What arrived can send something.
		if (events !== before) turn = 0;
		before = events;
		await sleep(1);
	}
}

/** Waits for turns of the event loop, so that things happen in the same order on every machine. */
export async function eventLoopTurns(count: number): Promise<void> {
	for (let turn = 0; turn < count; turn++) await setImmediate();
}

/** Thrown by a probe if waiting longer can't help. */
export class UnrecoverableError extends Error {}
