import difference from 'lodash/difference';
import { removeAll, type DeduplicationStore } from '../../deduplicationStore';
import type { Limiter } from '../../keyedMutex';

/** A node's store. */
export type StoreAccess = {
	store: DeduplicationStore;
	/** Waits for other users of the store in this process. */
	exclusive: Limiter;
	/** How many texts the store keeps. */
	maxEntries: () => number;
};

type Batch = {
	add: Set<string>;
	/** Removed before texts are added, because a request that is sent again has the same text. */
	remove: Set<string>;
	/** Added in this batch, and removed since. */
	removeAfterwards: Set<string>;
	/** The texts that were new. */
	added: Promise<ReadonlySet<string>>;
};

/**
 * Writes texts to n8n's store in batches: changes that arrive while n8n writes go into the next one, and take effect in
 * their order.
 */
export class StoreWriter {
	private last: Promise<unknown> = Promise.resolve();
	private batch: Batch | undefined;
	/** Written again with the next batch, because a simultaneous write by a worker may have undone them. */
	private lastTexts: string[] = [];

	/** @returns the texts that were new */
	async add(access: StoreAccess, texts: readonly string[]): Promise<ReadonlySet<string>> {
		const { add, removeAfterwards, added } = this.nextBatch(access);
		for (const text of texts) {
			add.add(text);
			removeAfterwards.delete(text);
		}
		return await added;
	}

	async remove(access: StoreAccess, texts: readonly string[]): Promise<void> {
		const { add, remove, removeAfterwards, added } = this.nextBatch(access);
		for (const text of texts) (add.has(text) ? removeAfterwards : remove).add(text);
		await added;
	}

	/** These are about to be removed from the store, so they aren't written again. */
	forget(texts: readonly string[]): void {
		this.lastTexts = difference(this.lastTexts, texts);
	}

	private nextBatch(access: StoreAccess): Batch {
		return (this.batch ??= this.startBatch(access));
	}

	private startBatch({ store, exclusive, maxEntries }: StoreAccess): Batch {
		const add = new Set<string>();
		const remove = new Set<string>();
		const removeAfterwards = new Set<string>();
		const writeAll = async (): Promise<ReadonlySet<string>> => {
			this.batch = undefined;
			await removeAll(store, [...remove]);
			const again = difference(this.lastTexts, [...remove], [...add]);
			this.lastTexts = add.size === 0 ? again : difference([...add], [...removeAfterwards]);
			if (add.size === 0) return new Set<string>();
			const added = new Set(await store.add([...again, ...add], maxEntries()));
			// The texts were added, so those who wait for them don't fail.
			await removeAll(store, [...removeAfterwards]).catch(() => undefined);
			return added;
		};
		const added = this.last.then(async () => await exclusive(writeAll));
		this.last = added.catch(() => undefined);
		return { add, remove, removeAfterwards, added };
	}
}
