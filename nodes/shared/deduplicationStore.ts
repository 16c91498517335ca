/** A persistent set of texts. n8n's deduplication store can only look up a text by adding it. */
export type DeduplicationStore = {
	/**
	 * Adds new texts. They're stored when this resolves.
	 *
	 * @param maxEntries how many texts to keep; the oldest are dropped first. By default, `MAX_REMEMBERED`.
	 * @returns the texts that were new
	 */
	add(texts: string[], maxEntries?: number): Promise<string[]>;
	/** Adds the texts to look them up, and removes the new ones again. @returns those that it contains */
	find(texts: string[]): Promise<string[]>;
	remove(texts: string[]): Promise<void>;
	clear(): Promise<void>;
	count(): Promise<number>;
};

/** Texts that a workflow remembers. n8n reads and writes all of them with each access, and removes the oldest. */
export const MAX_REMEMBERED = 500_000;
