import type { Parameters } from './parameters';

const MOST = 100;

/** *Concurrency* of the Options collection; it holds for the whole run. */
export function readConcurrency(parameters: Parameters, initial: number): number {
	const value = Math.trunc(Number(parameters.value('options.concurrency', 0) ?? initial));
	return Number.isNaN(value) ? initial : Math.min(MOST, Math.max(1, value));
}
