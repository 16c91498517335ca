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
	find(texts: string[], sign: string): Promise<string[] | undefined>;
	remove(texts: string[]): Promise<void>;
	clear(): Promise<void>;
	count(): Promise<number>;
};

/** Texts that a workflow remembers. n8n reads and writes all of them with each access, and removes the oldest. */
export const MAX_REMEMBERED = 500_000;

/**
 * Looks texts up by adding them, and removes the new ones again. If that is interrupted, as when n8n is killed, some stay. So
 * a sign is added with them and removed last: where it's left, nothing can be looked up any more. It's the newest one, because
 * n8n drops the oldest texts first.
 *
 * @param sign names what is looked up
 * @returns the texts that the store certainly had. Undefined after an interruption.
 */
export async function findByAdding(
	store: Pick<DeduplicationStore, 'add' | 'remove'>,
	texts: readonly string[],
	sign: string,
): Promise<string[] | undefined> {
	const all = [...texts, sign];
	const added = new Set(await store.add(all));
	await store.remove(all.filter((text) => added.has(text)));
	return added.has(sign) ? texts.filter((text) => !added.has(text)) : undefined;
}
