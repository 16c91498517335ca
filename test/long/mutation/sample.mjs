/** The share of the mutants that run, from 0 to 1. */
export const SHARE = Number(process.env.MUTATION_SHARE || 0.05);

/** The same seed draws the same mutants from the same code. */
export const SEED = Number(process.env.MUTATION_SEED || 20261120);

/** The result of each mutant of this sample. */
export const RESULTS = `reports/mutation/${SHARE}-${SEED}.json`;
