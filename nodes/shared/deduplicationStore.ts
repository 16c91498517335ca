/** A persistent set of texts. n8n's deduplication store can only look up a text by adding it. */
export type DeduplicationStore = {
	/**
	 * Adds new texts. They're stored when this resolves.
	 *
	 * @param maxEntries how many texts to keep; the oldest are dropped first. By default, `MAX_REMEMBERED`.
	 * @returns the texts that were new
	 */
	add(texts: string[], maxEntries?: number): Promise<string[]>;
	/** {@link findByAdding} */
	find(texts: string[], mark: string): Promise<string[]>;
	remove(texts: string[]): Promise<void>;
	clear(): Promise<void>;
	count(): Promise<number>;
};

/** Texts that a workflow remembers. n8n reads and writes all of them with each access, and removes the oldest. */
export const MAX_REMEMBERED = 500_000;

/**
 * Looks texts up by adding them, and removes the new ones again. If that is interrupted, as when n8n is killed, some stay. So
 * a mark is added together with them and removed last: where it's left, nothing is found any more.
 *
 * @param mark names what is looked up
 * @returns the texts that the store certainly had
 */
export async function findByAdding(
	store: Pick<DeduplicationStore, 'add' | 'remove'>,
	texts: readonly string[],
	mark: string,
): Promise<string[]> {
	const all = [...texts, mark];
	const added = new Set(await store.add(all));
	await store.remove(all.filter((text) => added.has(text)));
	return added.has(mark) ? texts.filter((text) => !added.has(text)) : [];
}
