import { sleep } from 'n8n-workflow';

/** Lets other work of the process run. */
export async function yieldToEventLoop(): Promise<void> {
	await sleep(0);
}

/** They take about 10 ms. */
const ENTRIES_PER_SLICE = 1_000;

/** For a long list, because other executions of this process must be able to continue. */
export async function forEachInSlices<T>(
	entries: readonly T[],
	action: (entry: T) => void,
): Promise<void> {
	for (const [index, entry] of entries.entries()) {
		if (index > 0 && index % ENTRIES_PER_SLICE === 0) await yieldToEventLoop();
		action(entry);
	}
}
