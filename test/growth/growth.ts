/** Does work on an input of about so many characters, which is made beforehand. */
export type Job = (characters: number) => () => unknown;

const TIMES = 4;
/** Work in proportion to the input takes about 4 times as long for 4 times as much, and work that grows with its square 16 times. */
const MOST_TIMES = 8;
/** Below this, what the machine does besides outweighs the work. */
const NOISE_MS = 2;
/** Nothing that is collected takes so long. */
const SURELY_SLOW_MS = 500;
const FEWEST_CHARACTERS = 125;
const LOOKS = 5;

/** What a job costs at one size and at 4 times that size, where it grows faster than its input. */
export type Excess = { characters: number; ms: number; msOfQuarter: number };

/**
 * The first size at which a job costs more than 8 times what it costs for a quarter of it; `undefined` where there is none.
 * The thread's own CPU time is compared with itself, and the least of several looks counts: a busy machine changes neither.
 */
export async function excessOf(job: Job, most: number): Promise<Excess | undefined> {
	let quarter = await leastOf(job, FEWEST_CHARACTERS, 1);
	for (let characters = FEWEST_CHARACTERS * TIMES; characters <= most; characters *= TIMES) {
		let ms = await leastOf(job, characters, 1);
		if (isExcess(ms, quarter)) {
			quarter = Math.max(quarter, await leastOf(job, characters / TIMES, LOOKS));
			ms = Math.min(ms, await leastOf(job, characters, LOOKS));
			const grows = isExcess(ms, quarter) && (await growsFurther(job, characters, ms));
			if (grows) return { characters, ms, msOfQuarter: quarter };
		}
		quarter = ms;
	}
	return undefined;
}

/** Garbage that is collected at one size looks like growth, and does not go on at the next. */
async function growsFurther(job: Job, characters: number, ms: number): Promise<boolean> {
	if (ms > SURELY_SLOW_MS) return true;
	return isExcess(await leastOf(job, characters * TIMES, LOOKS), ms);
}

function isExcess(ms: number, quarter: number): boolean {
	return ms > MOST_TIMES * Math.max(quarter, NOISE_MS);
}

async function leastOf(job: Job, characters: number, looks: number): Promise<number> {
	let least = Infinity;
	for (let look = 0; look < looks; look++) {
		const run = job(characters);
		const before = cpuMs();
		await runToEnd(run);
		least = Math.min(least, cpuMs() - before);
	}
	return least;
}

function cpuMs(): number {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1_000;
}

/** What one call needs besides is too much for the stack: more arguments than it takes, or too deep a recursion. */
export class StackOverflow extends Error {}

/** Runs to the end, whatever kind of end that is; a rejection is a good one. */
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
