import type { DateTime } from 'luxon';

/** Time, injected so that tests never sleep for real. */
export type Clock = {
	/** Epoch milliseconds of the system clock, which can be set: only for what has a date. */
	now(): number;
	/** Milliseconds since some moment, whatever is done to the system clock: for everything that takes or waits a time. */
	elapsed(): number;
	sleep(milliseconds: number): Promise<void>;
};

/** Waits that grow: each is `factor` times the one before, up to the longest. */
export type Backoff = {
	firstMs: number;
	maxMs: number;
	/** 2 where nothing is said. */
	factor?: number;
	/** The part of a wait by which chance makes it longer or shorter; none where nothing is said. */
	jitter?: number;
};

/** The wait before repetition 1, 2, 3 … in milliseconds. */
export function backoffMs(
	{ firstMs, maxMs, factor = 2, jitter = 0 }: Backoff,
	repetition: number,
	random: () => number = Math.random,
): number {
	const step = Math.min(maxMs, firstMs * factor ** (repetition - 1));
	return Math.min(maxMs, Math.round(step * (1 - jitter + 2 * jitter * random())));
}

/**
 * The end of a wait that is stored as a date. As long as this process lives, a system clock that is set back doesn't put
 * it off; one that is set past the date ends it, as n8n itself ends such a wait by that clock.
 */
export class StoredDeadline {
	private readonly elapsedAt: number;

	/** @param at epoch milliseconds */
	constructor(
		private readonly clock: Clock,
		readonly at: number,
	) {
		this.elapsedAt = clock.elapsed() + at - clock.now();
	}

	/** Milliseconds; negative once it has passed. */
	get left(): number {
		return Math.min(this.at - this.clock.now(), this.elapsedAt - this.clock.elapsed());
	}
}

/** Why a signal says that nobody waits any more. Without a reason `abort` makes an error with its stack, each time. */
export const DONE = 'done';

/** No single sleep is longer, so that one which cannot be aborted ends soon after closing. */
const SLICE_MS = 1_000;

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
	const end = clock.elapsed() + ms;
	let left = ms;
	try {
		while (left > 0 && !signal.aborted) {
			const slice = Math.min(left, SLICE_MS);
			await Promise.race([clock.sleep(slice), aborted.promise]);
			// A sleep takes its time at least.
			left = Math.min(left - slice, end - clock.elapsed());
		}
	} finally {
		signal.removeEventListener('abort', stop);
	}
	return !signal.aborted;
}

/** Waits until it is settled, but not longer than that. */
export async function settledOrTimeout(
	clock: Clock,
	ms: number,
	settling: Promise<unknown>,
): Promise<void> {
	const over = new AbortController();
	await Promise.race([settling, pause(clock, ms, over.signal)]).finally(() => over.abort(DONE));
}

/** Resolves when the signal is aborted. */
export async function whenAborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return;
	await new Promise<void>((resolve) => {
		signal.addEventListener('abort', () => resolve(), { once: true });
	});
}

/** Aborted with the first of these; undefined where there is none. */
export function anyOf(...signals: Array<AbortSignal | undefined>): AbortSignal | undefined {
	const given = signals.filter((signal) => signal !== undefined);
	return given.length > 1 ? AbortSignal.any(given) : given[0];
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

/** Whatever the language of the machine: the service reads Latin digits, and messages are in English. */
export function inEnglish(at: DateTime, format: string): string {
	return at.toFormat(format, { locale: 'en', numberingSystem: 'latn' });
}

/** ISO 8601 with a numeric offset even in UTC, where luxon's own form writes Z. */
export function withOffset(at: DateTime): string {
	return inEnglish(at, "yyyy-MM-dd'T'HH:mm:ssZZ");
}

const OFFSET = /^[^T]*T.*(?:Z|[+-]\d{2}:?\d{2})$/i;

/** Whether an ISO 8601 text names its offset from UTC; without one it could be of any hour. */
export function hasOffset(text: string): boolean {
	return OFFSET.test(text);
}
