/** A persistent set of texts. n8n's deduplication store can only look up a text by adding it. */
export type DeduplicationStore = {
	/**
	 * Adds new texts. They're stored when this resolves.
	 *
	 * @param maxEntries how many texts to keep; the oldest are dropped first. All if omitted.
	 * @returns the texts that were new
	 */
	add(texts: string[], maxEntries?: number): Promise<string[]>;
	remove(texts: string[]): Promise<void>;
	clear(): Promise<void>;
	count(): Promise<number>;
};

/** Numbers that a workflow remembers. n8n reads and writes all of them with each access, and removes the oldest. */
export const MAX_REMEMBERED = 500_000;

/** Removing a text searches the whole set. This many comparisons take about half a second. */
const MAX_COMPARISONS = 50_000_000;

/** Removes texts in batches, so that the process can do other work in between. */
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
