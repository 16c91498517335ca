import type { DeduplicationStore } from '../../../nodes/shared/deduplicationStore';

export class Killed extends Error {
	override readonly message = 'killed';
}

/** n8n's store, in a process that can be killed before each write. */
export class KillableStore implements DeduplicationStore {
	readonly texts = new Set<string>();
	writes = 0;
	/** The writes until n8n is killed. */
	left = Infinity;
	/** With many other texts, texts are removed in several batches. */
	others = 0;

	async add(texts: string[]): Promise<string[]> {
		this.write();
		const added = texts.filter((text) => !this.texts.has(text));
		for (const text of added) this.texts.add(text);
		return await Promise.resolve(added);
	}

	async remove(texts: string[]): Promise<void> {
		this.write();
		for (const text of texts) this.texts.delete(text);
		await Promise.resolve();
	}

	async clear(): Promise<void> {
		this.texts.clear();
		await Promise.resolve();
	}

	async count(): Promise<number> {
		return await Promise.resolve(this.others + this.texts.size);
	}

	private write(): void {
		if (this.left-- <= 0) throw new Killed();
		this.writes++;
	}
}
