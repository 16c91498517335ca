const FACTOR = 4;
/** Four times the input takes linear work about 4 times as long, and quadratic work 16 times. */
const MAX_RATIO = 8;
/** Shorter times are mostly noise. */
const NOISE_MS = 2;
const REPEATS = 5;

/** The CPU time of the thread, which doesn't depend on the load of the machine. The minimum of several runs leaves garbage collection out. */
async function minCpuMs(work: () => Promise<unknown>): Promise<number> {
	const cpuMs = () => {
		const { user, system } = process.threadCpuUsage();
		return (user + system) / 1_000;
	};
	let min = Infinity;
	for (let count = 0; count < REPEATS; count++) {
		const before = cpuMs();
		// A reader that rejects the input has read it, too.
		await work().catch(() => undefined);
		min = Math.min(min, cpuMs() - before);
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
		const msAt = async (at: number) => {
			const work = prepare(at);
			return await minCpuMs(async () => await work());
		};
		const quarter = Math.max(NOISE_MS, await msAt(size / FACTOR));
		if ((await msAt(size)) <= MAX_RATIO * quarter) return true;
	}
	return false;
}
