/** Runs of each property: few in `npm test`, and more in `npm run long -- fuzz`. */
export const RUNS = Number(process.env.FUZZ_RUNS ?? 25);

/** Runs for properties without a server. */
export const MANY_RUNS = RUNS * (process.env.FUZZ_RUNS === undefined ? 6 : 20);

/** Only ends tests that hang. */
export const TIMEOUT_MS = 300_000 + RUNS * 2_000;
