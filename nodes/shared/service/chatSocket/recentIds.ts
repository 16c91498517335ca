/** Remembers the latest ids, so that replayed events are told from new ones without growing for ever. */
export class RecentIds {
	private readonly ids = new Set<string>();

	constructor(private readonly limit = 5_000) {}

	has(id: string): boolean {
		return this.ids.has(id);
	}

	forget(id: string): void {
		this.ids.delete(id);
	}

	add(id: string): void {
		this.ids.delete(id);
		this.ids.add(id);
		if (this.ids.size <= this.limit) return;
		const oldest = this.ids.values().next();
		if (!oldest.done) this.ids.delete(oldest.value);
	}
}
