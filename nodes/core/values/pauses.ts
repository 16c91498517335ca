import { sleep } from 'n8n-workflow';

/** The time of work between two pauses, in milliseconds. */
const WORK_MS = 10;

/** Pauses of a long loop, because other executions of this process must be able to continue. */
export class Pauses {
	private steps = 0;
	private since = performance.now();

	/** @param stepsPerLook after how many steps to look at the clock, which takes longer than a short step */
	constructor(private readonly stepsPerLook = 1) {}

	/** Call it once in each step, and take a pause if it's true. */
	isDue(): boolean {
		this.steps++;
		return this.steps % this.stepsPerLook === 0 && performance.now() - this.since >= WORK_MS;
	}

	async take(): Promise<void> {
		await sleep(0);
		this.since = performance.now();
	}
}

export async function forEachWithPauses<T>(
	entries: Iterable<T>,
	action: (entry: T) => void,
	stepsPerLook?: number,
): Promise<void> {
	const pauses = new Pauses(stepsPerLook);
	for (const entry of entries) {
		if (pauses.isDue()) await pauses.take();
		action(entry);
	}
}
