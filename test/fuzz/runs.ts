/** `npm run long -- fuzz`, which tries what `npm test` has no time for. */
export const IS_LONG = process.env.FUZZ_RUNS !== undefined;

const USUAL_RUNS = 25;

/** Runs of each property. */
export const RUNS = Number(process.env.FUZZ_RUNS ?? USUAL_RUNS);

/** Runs for properties without a server. */
export const MANY_RUNS = RUNS * (IS_LONG ? 20 : 6);

/** Only ends tests that hang. */
export const TIMEOUT_MS = 300_000 + RUNS * 2_000;
