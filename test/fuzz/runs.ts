import { randomDialect, type Dialect } from '../simulator';

/** `npm run long -- fuzz`, which tries what `npm test` has no time for. */
export const IS_LONG = process.env.FUZZ_RUNS !== undefined;

const USUAL_RUNS = 25;

/** Runs of each property. */
export const RUNS = Number(process.env.FUZZ_RUNS ?? USUAL_RUNS);

/** How often to repeat what runs once in `npm test`. */
export const REPEATS = Math.max(1, Math.floor(RUNS / USUAL_RUNS));

/** Runs for properties without a server. */
export const MANY_RUNS = RUNS * (IS_LONG ? 20 : 6);

/** Only ends tests that hang. */
export const TIMEOUT_MS = 300_000 + RUNS * 2_000;

let seed = process.env.PROPERTY_SEED === 'new' ? Date.now() % 1_000_000_000 : 0;

/** Another dialect each time. Without `PROPERTY_SEED`, each run of a file has the same ones. */
export function nextDialect(): Dialect {
	return randomDialect(++seed);
}
