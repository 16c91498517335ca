/** Prepares an input with about this many characters. Returns the work to measure. */
export type Job = (characters: number) => () => unknown;

const FACTOR = 4;
/** With 4 times the input, linear work takes about 4 times as long, and quadratic work 16 times. */
const MAX_RATIO = 8;
/** Shorter times are mostly noise. */
const NOISE_MS = 2;
/** Garbage collection never takes this long. */
const SURELY_SLOW_MS = 500;
const MIN_CHARACTERS = 125;
const REPEATS = 5;

/** The CPU time of a job at one size and at a quarter of it, if it grows faster than its input. */
export type Excess = { characters: number; ms: number; msOfQuarter: number };

/**
 * The first size at which a job takes more than 8 times as long as at a quarter of it. Undefined if there is none.
 * Compares the minimum CPU time of the thread in several runs, which doesn't depend on the load of the machine.
 */
export async function excessOf(job: Job, maxCharacters: number): Promise<Excess | undefined> {
	let quarter = await minCpuMs(job, MIN_CHARACTERS, 1);
	for (
		let characters = MIN_CHARACTERS * FACTOR;
		characters <= maxCharacters;
		characters *= FACTOR
	) {
		let ms = await minCpuMs(job, characters, 1);
		if (isExcess(ms, quarter)) {
			quarter = Math.max(quarter, await minCpuMs(job, characters / FACTOR, REPEATS));
			ms = Math.min(ms, await minCpuMs(job, characters, REPEATS));
			const grows = isExcess(ms, quarter) && (await growsFurther(job, characters, ms));
			if (grows) return { characters, ms, msOfQuarter: quarter };
		}
		quarter = ms;
	}
	return undefined;
}

/** Garbage collection at one size can look like growth, but doesn't continue at the next size. */
async function growsFurther(job: Job, characters: number, ms: number): Promise<boolean> {
	if (ms > SURELY_SLOW_MS) return true;
	return isExcess(await minCpuMs(job, characters * FACTOR, REPEATS), ms);
}

function isExcess(ms: number, quarter: number): boolean {
	return ms > MAX_RATIO * Math.max(quarter, NOISE_MS);
}

async function minCpuMs(job: Job, characters: number, repeats: number): Promise<number> {
	let min = Infinity;
	for (let count = 0; count < repeats; count++) {
		const run = job(characters);
		const before = cpuMs();
		await runToEnd(run);
		min = Math.min(min, cpuMs() - before);
	}
	return min;
}

function cpuMs(): number {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1_000;
}

/** A call needed too much of the stack: too many arguments, or too deep a recursion. */
export class StackOverflow extends Error {}

/** Runs to the end. Rejections are fine, except a stack overflow. */
export async function runToEnd(run: () => unknown): Promise<void> {
	try {
		const result = await run();
		if (isIterator(result)) while (result.next().done !== true);
	} catch (error) {
		if (error instanceof RangeError && error.message.includes('call stack')) {
			throw new StackOverflow(error.message, { cause: error });
		}
	}
}

function isIterator(value: unknown): value is Iterator<unknown> {
	return typeof value === 'object' && value !== null && 'next' in value && Symbol.iterator in value;
}
