import { BACKOFF_CAP_MS, BACKOFF_FIRST_MS } from './timings';

const JITTER = 0.2;

/** Delay before attempt 1, 2, 3 …: about 1, 2, 4, 8 s, never above 30 s, spread by ±20 % so that many sessions do not return in step. */
export function backoffMs(attempt: number, random: () => number): number {
	const base = Math.min(BACKOFF_CAP_MS, BACKOFF_FIRST_MS * 2 ** (attempt - 1));
	const spread = 1 - JITTER + 2 * JITTER * random();
	return Math.min(BACKOFF_CAP_MS, Math.round(base * spread));
}
