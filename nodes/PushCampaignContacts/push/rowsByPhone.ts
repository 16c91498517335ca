import type { PhonesByRow } from './phones';

const MIN_CAPACITY = 64;
/** Fuller tables find phones more slowly. */
const MAX_LOAD = 0.6;
/** Spreads consecutive numbers over the upper bits. */
const SPREAD = 0x9e3779b1;
const TWO_TO_32 = 2 ** 32;
/** Random in each process, so that nobody can create a file whose numbers all collide. */
const [MIX_OF_LOWER, MIX_OF_UPPER] = [oddNumber(), oddNumber()];
/** The upper bits of a hash select the table. One large table would block n8n for seconds when it grows. */
const TABLE_BITS = 8;

/** Finds the row of a phone. Takes about 8 bytes per phone, because it reads the phones from `phones`. */
export class RowsByPhone {
	private readonly tables: readonly PhoneTable[];

	constructor(private readonly phones: PhonesByRow) {
		this.tables = Array.from({ length: 2 ** TABLE_BITS }, () => new PhoneTable(phones));
	}

	get(key: string): number | undefined {
		const number = Number(key);
		const hash = hashOf(number);
		return this.tableOf(hash)?.get(number, hash);
	}

	/** Makes the row, whose phone is set, the row of its phone. The row that had it must still have its phone. */
	set(row: number): void {
		const number = this.phones.keyNumberAt(row);
		const hash = hashOf(number);
		this.tableOf(hash)?.set(number, hash, row);
	}

	private tableOf(hash: number): PhoneTable | undefined {
		return this.tables[hash >>> (32 - TABLE_BITS)];
	}
}

/** A hash table with open addressing, whose slots contain a row plus one, or 0 if they are free. */
class PhoneTable {
	/** The length is a power of two, and some slots are always free. */
	private slots = new Uint32Array(MIN_CAPACITY);
	private size = 0;

	constructor(private readonly phones: PhonesByRow) {}

	get(number: number, hash: number): number | undefined {
		const slot = this.slots[this.slotOf(number, hash)] ?? 0;
		return slot === 0 ? undefined : slot - 1;
	}

	set(number: number, hash: number, row: number): void {
		if (this.size >= MAX_LOAD * this.slots.length) this.grow();
		const slot = this.slotOf(number, hash);
		if (this.slots[slot] === 0) this.size++;
		this.slots[slot] = row + 1;
	}

	/** The slot of the number, or the free slot for it. */
	private slotOf(number: number, hash: number): number {
		const { slots, phones } = this;
		const last = slots.length - 1;
		let at = (hash << TABLE_BITS) >>> Math.clz32(last);
		for (;;) {
			const slot = slots[at] ?? 0;
			if (slot === 0 || phones.keyNumberAt(slot - 1) === number) return at;
			at = (at + 1) & last;
		}
	}

	private grow(): void {
		const { slots, phones } = this;
		this.slots = new Uint32Array(2 * slots.length);
		for (const slot of slots) {
			if (slot === 0) continue;
			const number = phones.keyNumberAt(slot - 1);
			this.slots[this.slotOf(number, hashOf(number))] = slot;
		}
	}
}

function oddNumber(): number {
	return 2 * Math.floor(Math.random() * (TWO_TO_32 / 2)) + 1;
}

/** A 32-bit hash. */
function hashOf(number: number): number {
	const mixed = Math.imul(number, MIX_OF_LOWER) + Math.imul(number / TWO_TO_32, MIX_OF_UPPER);
	return Math.imul(mixed ^ (mixed >>> 15), SPREAD);
}
