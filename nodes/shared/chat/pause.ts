import type { Clock } from '../api/http';
import { SLICE_MS } from './timings';

/**
 * Waits in slices of at most a second and returns at once when the signal aborts. The sleep left behind then
 * is harmless: nothing awaits it, and it is short.
 *
 * @returns whether the time has passed; false when the signal aborted
 */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
	const aborted: Deferred<void> = deferred();
	const stop = () => aborted.resolve();
	signal.addEventListener('abort', stop, { once: true });
	const end = clock.now() + ms;
	let left = ms;
	try {
		while (left > 0 && !signal.aborted) {
			const slice = Math.min(left, SLICE_MS);
			await Promise.race([clock.sleep(slice), aborted.promise]);
			// Counting slices as well keeps a system clock that is set back from prolonging the wait.
			left = Math.min(left - slice, end - clock.now());
		}
	} finally {
		signal.removeEventListener('abort', stop);
	}
	return !signal.aborted;
}

/** Waits until it is settled, but not longer than that. */
export async function settledWithin(
	clock: Clock,
	ms: number,
	settling: Promise<unknown>,
): Promise<void> {
	const over = new AbortController();
	await Promise.race([settling, pause(clock, ms, over.signal)]).finally(() => over.abort());
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return;
	await new Promise<void>((resolve) => {
		signal.addEventListener('abort', () => resolve(), { once: true });
	});
}

export interface Deferred<T> {
	promise: Promise<T>;
	resolve: (value: T) => void;
}

export function deferred<T>(): Deferred<T> {
	let resolve: (value: T) => void = () => undefined;
	const promise = new Promise<T>((settle) => {
		resolve = settle;
	});
	return { promise, resolve };
}
