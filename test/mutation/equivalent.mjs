/** Mutants that change nothing that anyone could see, each with the reason. */
export const EQUIVALENT = [];
