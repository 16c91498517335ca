import { detachedCopy } from '../../shared/values';
import { phoneAsNumber } from './phonesByRow';

/** The phone of a row as a number, see {@link phoneAsNumber}. */
export type NumbersOfRows = { numberAt(row: number): number };

/** A table of phones grows when it is this full. Each table has another limit, so that they don't grow together. */
const [MIN_LOAD, MAX_LOAD] = [0.35, 0.7];
const MIN_CAPACITY = 64;
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
	/** For texts that aren't phone numbers. */
	private readonly others = new Map<string, number>();

	/** @param phones each row that is set must already have its phone here */
	constructor(phones: NumbersOfRows) {
		const count = 2 ** TABLE_BITS;
		this.tables = Array.from(
			{ length: count },
			(_, table) => new PhoneTable(phones, MIN_LOAD + ((MAX_LOAD - MIN_LOAD) * table) / count),
		);
	}

	get(text: string): number | undefined {
		const number = phoneAsNumber(text);
		if (Number.isNaN(number)) return this.others.get(text);
		const hash = hashOf(number);
		return this.tableOf(hash)?.get(number, hash);
	}

	set(text: string, row: number): void {
		const number = phoneAsNumber(text);
		const hash = hashOf(number);
		if (Number.isNaN(number)) this.others.set(detachedCopy(text), row);
		else if (number !== 0) this.tableOf(hash)?.set(number, hash, row);
	}

	get size(): number {
		return this.tables.reduce((sum, { size }) => sum + size, this.others.size);
	}

	private tableOf(hash: number): PhoneTable | undefined {
		return this.tables[hash >>> (32 - TABLE_BITS)];
	}
}

/** A hash table with open addressing, whose slots contain a row plus one, or 0 if they are free. */
class PhoneTable {
	/** The length is a power of two, and some slots are always free. */
	private slots = new Uint32Array(MIN_CAPACITY);
	size = 0;

	constructor(
		private readonly phones: NumbersOfRows,
		private readonly maxLoad: number,
	) {}

	get(number: number, hash: number): number | undefined {
		const slot = this.slots[this.slotOf(number, hash)] ?? 0;
		return slot === 0 ? undefined : slot - 1;
	}

	set(number: number, hash: number, row: number): void {
		if (this.size >= this.maxLoad * this.slots.length) this.grow();
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
			if (slot === 0 || phones.numberAt(slot - 1) === number) return at;
			at = (at + 1) & last;
		}
	}

	private grow(): void {
		const { slots, phones } = this;
		this.slots = new Uint32Array(2 * slots.length);
		for (const slot of slots) {
			if (slot === 0) continue;
			const number = phones.numberAt(slot - 1);
			this.slots[this.slotOf(number, hashOf(number))] = slot;
		}
	}
}

function oddNumber(): number {
	return 2 * Math.floor(Math.random() * (TWO_TO_32 / 2)) + 1;
}

/** A 32-bit hash of a phone as a number. */
function hashOf(number: number): number {
	const mixed = Math.imul(number, MIX_OF_LOWER) + Math.imul(number / TWO_TO_32, MIX_OF_UPPER);
	return Math.imul(mixed ^ (mixed >>> 15), SPREAD);
}
