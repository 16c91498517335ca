/**
 * n8n's deduplication store: a list of texts, stored as fingerprints. n8n reads and writes all of it with each access, and can
 * only look a text up by adding it.
 */
export type TextList = {
	/**
	 * Adds new texts. They're stored when this resolves. If it rejects, they may be.
	 *
	 * @param maxTexts how many to keep; the oldest are dropped first. By default, `MAX_REMEMBERED`.
	 * @returns the texts that were new
	 */
	add(texts: string[], maxTexts?: number): Promise<string[]>;
	/**
	 * Fastest in the order in which they were added.
	 *
	 * @param areAdded whether all of them were added, so that a list with as many texts has no others
	 */
	remove(texts: string[], areAdded?: boolean): Promise<void>;
	clear(): Promise<void>;
	count(): Promise<number>;
};

/** The most texts of a list. */
export const MAX_REMEMBERED = 500_000;
