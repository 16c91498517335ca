/** A lasting set of texts. Looking a text up adds it: n8n's deduplication store offers nothing else. */
export type DeduplicationStore = {
	/**
	 * Adds what isn't there yet. Stored when this resolves.
	 *
	 * @param maxEntries how many texts to keep; the oldest are dropped first. All if omitted.
	 * @returns the texts that were not there
	 */
	add(texts: string[], maxEntries?: number): Promise<string[]>;
	remove(texts: string[]): Promise<void>;
	clear(): Promise<void>;
	count(): Promise<number>;
};

/** Is in a store that has more than notes of requests, which all must stay: none is dropped to make room. */
export const OTHER_TEXTS = 'more than notes';

/** n8n searches the whole set for each text that it removes: this many comparisons take about half a second. */
const MAX_COMPARISONS = 50_000_000;

/** Removes any number of texts, and lets other work of the process go on in between. */
export async function removeAll(
	store: DeduplicationStore,
	texts: readonly string[],
): Promise<void> {
	if (texts.length === 0) return;
	const size = Math.max(1, Math.floor(MAX_COMPARISONS / Math.max(1, await store.count())));
	for (let start = 0; start < texts.length; start += size) {
		await store.remove(texts.slice(start, start + size));
	}
}
