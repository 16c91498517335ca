/** A map of limited size. A new entry removes the oldest one. */
export class BoundedMap<T> {
	private readonly values = new Map<string, T>();

	/** Continues where it was, because a new iterator would pass all removed entries again. */
	private readonly oldestFirst = this.values.keys();

	constructor(private readonly limit: number) {}

	has(id: string): boolean {
		return this.values.has(id);
	}

	get(id: string): T | undefined {
		return this.values.get(id);
	}

	all(): T[] {
		return [...this.values.values()];
	}

	/** Adds or replaces an entry, which becomes the newest one. */
	set(id: string, value: T): void {
		this.values.delete(id);
		this.values.set(id, value);
		if (this.values.size <= this.limit) return;
		const { value: oldest } = this.oldestFirst.next();
		if (oldest !== undefined) this.values.delete(oldest);
	}

	delete(id: string): void {
		this.values.delete(id);
	}
}
