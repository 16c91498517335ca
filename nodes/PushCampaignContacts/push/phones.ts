import type { AcceptedPhone } from '../../shared/phone/campaignPhone';
import { fingerprint, fingerprintOfBytes } from '../../shared/hash';
import { ROWS_PER_YIELD, type YieldToEventLoop } from './rows';
import type { RowSet } from './rowSet';
import { INDIAN_CODE } from '../../shared/phone/india';

/** 65,536 rows per typed array. Growing one large array would block n8n, and need three times the memory for a moment. */
const PART_BITS = 16;
const ROWS_PER_PART = 2 ** PART_BITS;
const LAST_IN_PART = ROWS_PER_PART - 1;

type NumberArray = Float64Array | Uint32Array;

/**
 * A number for each row, 0 if none was set. It grows, because the number of rows in a file isn't known before its end.
 */
export class NumbersByRow {
	private readonly parts: Array<NumberArray | undefined> = [];

	/** @param create how many bytes a number takes, such as 4 with `Uint32Array` */
	constructor(private readonly create: new (length: number) => NumberArray) {}

	at(row: number): number {
		return this.parts[row >>> PART_BITS]?.[row & LAST_IN_PART] ?? 0;
	}

	set(row: number, number: number): void {
		const part = (this.parts[row >>> PART_BITS] ??= new this.create(ROWS_PER_PART));
		part[row & LAST_IN_PART] = number;
	}
}

/** Values by row, read like an array. */
export type ByRow<T> = { at(row: number): T | undefined };

/**
 * The phone of each row, in 8 bytes: its `phone_key`, negative if it's sent with +91. As strings, phones would need most of
 * the memory of a push with a million rows.
 */
export class PhonesByRow implements ByRow<string> {
	private readonly numbers = new NumbersByRow(Float64Array);

	/** The phone as sent. Empty if none was set. */
	at(row: number): string {
		const key = this.keyAt(row);
		return this.numbers.at(row) < 0 ? `+${key}` : key.slice(INDIAN_CODE.length);
	}

	/** Their `phone_key`, equal for equal phones in any format. Empty if none was set. */
	readonly keys: ByRow<string> = { at: (row) => this.keyAt(row) };

	/** The key as a number, or 0 if no phone was set. */
	keyNumberAt(row: number): number {
		return Math.abs(this.numbers.at(row));
	}

	set(row: number, phone: AcceptedPhone): void {
		this.numbers.set(row, numberOf(phone));
	}

	clear(row: number): void {
		this.numbers.set(row, 0);
	}

	isSet(row: number): boolean {
		return this.numbers.at(row) !== 0;
	}

	has(row: number, phone: AcceptedPhone): boolean {
		return this.numbers.at(row) === numberOf(phone);
	}

	/** Identifies the keys of these rows in this order. */
	async fingerprintOf(rows: RowSet, yieldToEventLoop: YieldToEventLoop): Promise<string> {
		let hash = '';
		for (const some of rows.lists(ROWS_PER_YIELD)) {
			await yieldToEventLoop();
			const numbers = Float64Array.from(some, (row) => this.keyNumberAt(row));
			hash = fingerprint([hash, fingerprintOfBytes(new Uint8Array(numbers.buffer))]);
		}
		return hash;
	}

	private keyAt(row: number): string {
		const number = this.keyNumberAt(row);
		// Equal to String() for these numbers, and faster.
		return number === 0 ? '' : number.toFixed(0);
	}
}

function numberOf({ phone, key }: AcceptedPhone): number {
	return phone.length > key.length ? -Number(key) : Number(key);
}

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
