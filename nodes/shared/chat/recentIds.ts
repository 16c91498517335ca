/** Remembers something for each of the latest ids, so that replayed events are told from new ones without growing for ever. */
export class RecentIds<T> {
	private readonly values = new Map<string, T>();

	constructor(private readonly limit = 5_000) {}

	get(id: string): T | undefined {
		return this.values.get(id);
	}

	set(id: string, value: T): void {
		this.values.delete(id);
		this.values.set(id, value);
		if (this.values.size <= this.limit) return;
		const oldest = this.values.keys().next();
		if (!oldest.done) this.values.delete(oldest.value);
	}
}
