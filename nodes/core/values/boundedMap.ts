/** A map of limited size. An entry that is added or replaced becomes the newest one, and a new one removes the oldest. */
export class BoundedMap<T> extends Map<string, T> {
	/** Continues where it was, because a new iterator would pass all removed entries again. */
	private readonly oldestFirst = this.keys();

	constructor(private readonly limit: number) {
		super();
	}

	override set(id: string, value: T): this {
		this.delete(id);
		super.set(id, value);
		if (this.size <= this.limit) return this;
		const { value: oldest } = this.oldestFirst.next();
		if (oldest !== undefined) this.delete(oldest);
		return this;
	}
}
