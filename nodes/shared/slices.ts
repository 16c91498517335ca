import { sleep } from 'n8n-workflow';

/** They take about 10 ms. */
const ENTRIES_PER_SLICE = 1_000;

/** For a long list, because other executions of this process must be able to continue. */
export async function forEachInSlices<T>(
	entries: readonly T[],
	action: (entry: T) => void,
): Promise<void> {
	for (const [index, entry] of entries.entries()) {
		if (index > 0 && index % ENTRIES_PER_SLICE === 0) await sleep(0);
		action(entry);
	}
}
