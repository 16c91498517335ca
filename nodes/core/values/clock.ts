import { counted } from './values';

/** Time, injected so that tests don't wait. */
export type Clock = {
	/** Epoch milliseconds of the system clock, which can be changed. Only for dates. */
	now(): number;
	/** Milliseconds of a clock that can't be changed. For all durations. */
	elapsed(): number;
	sleep(milliseconds: number): Promise<void>;
};

/** When something must end. `at` is in milliseconds of the clock's `elapsed()`. */
export type Deadline = { at: number; signal: AbortSignal };

/**
 * Exponential backoff: each wait is `factor` times as long as the one before, up to `maxMs`. For series without a fixed
 * end, named `..._BACKOFF`. A few attempts at chosen times are a list named `..._DELAYS_MS`.
 */
export type Backoff = {
	firstMs: number;
	maxMs: number;
	/** 2 by default. */
	factor?: number;
	/** The random share of a wait, from 0 to 1. 0 by default. */
	jitter?: number;
};

/**
 * The wait before a repetition, in milliseconds.
 *
 * @param repetition from 1
 */
export function backoffMs(
	{ firstMs, maxMs, factor = 2, jitter = 0 }: Backoff,
	repetition: number,
): number {
	const step = Math.min(maxMs, firstMs * factor ** (repetition - 1));
	return Math.min(maxMs, Math.round(step * (1 - jitter + 2 * jitter * Math.random())));
}

/** Reason for `abort` when a wait is no longer needed. Without a reason, `abort` creates an error with a stack. */
export const DONE = 'done';

/** Longest single sleep. A sleep can't be aborted, so it must end soon. */
const SLICE_MS = 1_000;

/**
 * Waits until the time has passed or the signal aborts. Sleeps for at most a second at a time, because a sleep can't
 * be aborted. Each second has its own promise: a promise for the whole wait would keep each race with it in memory, which
 * is 90 KB for a connection that waits five minutes.
 *
 * @returns false if the signal aborted
 */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
	let wake = () => {};
	const stop = () => wake();
	signal.addEventListener('abort', stop, { once: true });
	const end = clock.elapsed() + ms;
	let left = ms;
	try {
		while (left > 0 && !signal.aborted) {
			const slice = Math.min(left, SLICE_MS);
			await new Promise<void>((resolve, reject) => {
				wake = resolve;
				clock.sleep(slice).then(resolve, reject);
			});
			// A sleep may take longer, but not less.
			left = Math.min(left - slice, end - clock.elapsed());
		}
	} finally {
		signal.removeEventListener('abort', stop);
	}
	return !signal.aborted;
}

/** Waits until the promise is settled, or the time has passed. */
export async function settledOrTimeout(
	clock: Clock,
	ms: number,
	settling: Promise<unknown>,
): Promise<void> {
	const timer = new AbortController();
	const waiting = pause(clock, ms, timer.signal);
	await Promise.race([settling, waiting]).finally(() => timer.abort(DONE));
}

/** Resolves when the signal aborts, unless `unneeded` aborts first. Until then, the signal keeps each race with it in memory. */
export async function whenAborted(signal: AbortSignal, unneeded?: AbortSignal): Promise<void> {
	if (signal.aborted) return;
	await new Promise<void>((resolve) => {
		signal.addEventListener('abort', () => resolve(), unneeded && { signal: unneeded });
	});
}

/** A signal that aborts with the first of these. Undefined if there are none. */
export function anyOf(...signals: Array<AbortSignal | undefined>): AbortSignal | undefined {
	const given = signals.filter((signal) => signal !== undefined);
	return given.length > 1 ? AbortSignal.any(given) : given[0];
}

/** In seconds, minutes, or hours, rounded up. */
export function duration(ms: number): string {
	const seconds = Math.ceil(ms / 1000);
	if (seconds < 120) return counted(seconds, 'second');
	const minutes = Math.ceil(seconds / 60);
	return minutes < 120 ? counted(minutes, 'minute') : counted(Math.ceil(minutes / 60), 'hour');
}
