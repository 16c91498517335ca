const FACTOR = 4;
/** Four times the input takes linear work about 4 times as long, and quadratic work 16 times. */
const MAX_RATIO = 8;
/** Shorter times are mostly noise. */
const NOISE_MS = 2;
const REPEATS = 5;

/** The CPU time of one run. It's of the thread, so it doesn't depend on the load of the machine. */
async function cpuMs(work: () => unknown): Promise<number> {
	const before = process.threadCpuUsage();
	try {
		await work();
	} catch {
		// A reader that rejects the input has read it, too.
	}
	const { user, system } = process.threadCpuUsage(before);
	return (user + system) / 1_000;
}

/** The minimum of several runs, which leaves garbage collection out. Stops at a run that takes at most `enoughMs`. */
async function minCpuMs(work: () => unknown, enoughMs = 0): Promise<number> {
	let min = Infinity;
	for (let count = 0; count < REPEATS && min > enoughMs; count++) {
		min = Math.min(min, await cpuMs(work));
	}
	return min;
}

/**
 * Whether the work takes about four times as long with four times the input. Tries a second size, because garbage
 * collection at one size can look like growth.
 *
 * @param prepare makes an input of this size, and returns the work to measure
 */
export async function isLinear(
	prepare: (characters: number) => () => unknown,
	characters: number,
): Promise<boolean> {
	for (const size of [characters, characters * FACTOR]) {
		// Most work is so short that a quarter of the input doesn't matter.
		if ((await cpuMs(prepare(size))) <= MAX_RATIO * NOISE_MS) return true;
		const quarterMs = Math.max(NOISE_MS, await minCpuMs(prepare(size / FACTOR)));
		const maxMs = MAX_RATIO * quarterMs;
		if ((await minCpuMs(prepare(size), maxMs)) <= maxMs) return true;
	}
	return false;
}
