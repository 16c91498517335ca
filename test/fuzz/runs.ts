/** How often each property is tried: a few times among the other tests, and as often as asked by `npm run fuzz`. */
export const RUNS = Number(process.env.FUZZ_RUNS ?? 25);

/** For properties that need no server. */
export const MANY_RUNS = RUNS * 20;

export type Counts = { [what: string]: number };

/** Says what was counted, where somebody has asked for more runs than usual. */
export function printCounts(what: string, counts: Counts): void {
	if (process.env.FUZZ_RUNS !== undefined)
		process.stdout.write(`${what}: ${JSON.stringify(counts)}\n`);
}
