import difference from 'lodash/difference';
import uniq from 'lodash/uniq';
import { removeAll, type DeduplicationStore } from '../../deduplicationStore';
import type { Limiter } from '../../keyedMutex';

type Batch = {
	add: string[];
	remove: string[];
	/** The texts that were new. */
	added: Promise<ReadonlySet<string>>;
};

/** Writes texts to n8n's store in batches: changes that arrive while n8n writes go into the next one. */
export class StoreWriter {
	private last: Promise<unknown> = Promise.resolve();
	private batch: Batch | undefined;
	/** Written again with the next batch, because a simultaneous write by a worker may have undone them. */
	private lastTexts: string[] = [];

	/**
	 * @param exclusive waits for other users of the store in this process
	 * @param maxEntries how many texts the store keeps
	 */
	constructor(
		private readonly store: DeduplicationStore,
		private readonly exclusive: Limiter,
		private readonly maxEntries: () => number,
	) {}

	/** @returns the texts that were new */
	async add(texts: readonly string[]): Promise<ReadonlySet<string>> {
		const batch = this.nextBatch();
		batch.add.push(...texts);
		return await batch.added;
	}

	async remove(texts: readonly string[]): Promise<void> {
		const batch = this.nextBatch();
		batch.remove.push(...texts);
		await batch.added;
	}

	/** These are about to be removed from the store, so they aren't written again. */
	forget(texts: readonly string[]): void {
		this.lastTexts = difference(this.lastTexts, texts);
	}

	private nextBatch(): Batch {
		return (this.batch ??= this.startBatch());
	}

	private startBatch(): Batch {
		const [add, remove]: [string[], string[]] = [[], []];
		const writeAll = async (): Promise<ReadonlySet<string>> => {
			this.batch = undefined;
			// Remove first, because a request that is sent again has the same entry.
			if (remove.length > 0) await removeAll(this.store, remove);
			const again = difference(this.lastTexts, remove, add);
			this.lastTexts = add.length === 0 ? again : uniq(add);
			if (add.length === 0) return new Set<string>();
			const texts = [...again, ...this.lastTexts];
			return new Set(await this.store.add(texts, this.maxEntries()));
		};
		const added = this.last.then(async () => await this.exclusive(writeAll));
		this.last = added.catch(() => undefined);
		return { add, remove, added };
	}
}
