const MIN_CAPACITY = 64;
const MAX_LOAD = 0.7;
const BYTES = BigUint64Array.BYTES_PER_ELEMENT;

/** Marks a free slot. A fingerprint of 0 is stored as 1. */
const FREE = 0n;

/**
 * A set of 64-bit fingerprints, with open addressing in a typed array. Takes 8 bytes each as stored, and at most 23 in
 * memory.
 */
export class FingerprintSet {
	/** The size is a power of two, and some slots are always free. */
	private slots: BigUint64Array;

	size = 0;

	constructor(expected = 0) {
		const capacity = 2 ** Math.ceil(Math.log2(Math.max(MIN_CAPACITY, expected / MAX_LOAD)));
		this.slots = new BigUint64Array(capacity);
	}

	has(fingerprint: bigint): boolean {
		return this.slots[this.slotOf(fingerprint || 1n)] !== FREE;
	}

	add(fingerprint: bigint): void {
		const value = fingerprint || 1n;
		const slot = this.slotOf(value);
		if (this.slots[slot] === value) return;
		this.slots[slot] = value;
		if (++this.size > MAX_LOAD * this.slots.length) this.grow();
	}

	/** All fingerprints, in base64. */
	toText(): string {
		const stored = Buffer.alloc(BYTES * this.size);
		let offset = 0;
		for (const value of this.slots) {
			if (value !== FREE) offset = stored.writeBigUInt64LE(value, offset);
		}
		return stored.toString('base64');
	}

	/** Restores a set from {@link toText}. */
	static fromText(text: string): FingerprintSet {
		const stored = Buffer.from(text, 'base64');
		const set = new FingerprintSet(stored.length / BYTES);
		for (let offset = 0; offset + BYTES <= stored.length; offset += BYTES) {
			set.add(stored.readBigUInt64LE(offset));
		}
		return set;
	}

	/** The slot of the fingerprint, or the free slot for it. */
	private slotOf(value: bigint): number {
		const last = this.slots.length - 1;
		let slot = Number(value & BigInt(last));
		while (this.slots[slot] !== FREE && this.slots[slot] !== value) slot = (slot + 1) & last;
		return slot;
	}

	private grow(): void {
		const { slots } = this;
		this.slots = new BigUint64Array(2 * slots.length);
		for (const value of slots) if (value !== FREE) this.slots[this.slotOf(value)] = value;
	}
}
