import { fingerprint, fingerprintOfBytes } from '../../shared/hash';
import { detachedCopy } from '../../shared/values';

/** Values by row, read like an array. */
export type ByRow<T> = { at(row: number): T | undefined };

/** The arrays double when they are full. */
const MIN_CAPACITY = 1_024;

/** A number for each row, 0 if none was set. It grows, because the number of rows in a file isn't known before its end. */
export class NumbersByRow implements ByRow<number> {
	private numbers: Float64Array;

	constructor(expected = 0) {
		this.numbers = new Float64Array(Math.max(MIN_CAPACITY, expected));
	}

	at(row: number): number {
		return this.numbers[row] ?? 0;
	}

	set(row: number, number: number): void {
		if (row >= this.numbers.length) {
			const larger = new Float64Array(Math.max(2 * this.numbers.length, row + 1));
			larger.set(this.numbers);
			this.numbers = larger;
		}
		this.numbers[row] = number;
	}
}

/**
 * A text for each row, empty if none was set. Phone numbers take 8 bytes each. As strings, they would need most of the
 * memory of a push with a million rows.
 */
export class PhonesByRow implements ByRow<string> {
	private readonly numbers: NumbersByRow;
	/** Texts that aren't phone numbers, by row. */
	private readonly others = new Map<number, string>();

	constructor(expected = 0) {
		this.numbers = new NumbersByRow(expected);
	}

	at(row: number): string {
		const number = this.numbers.at(row);
		// Equal to String() for these numbers, and faster.
		if (number > 0) return number.toFixed(0);
		if (number < 0) return `+${(-number).toFixed(0)}`;
		return number === 0 ? '' : (this.others.get(row) ?? '');
	}

	set(row: number, text: string): void {
		const number = numberOf(text);
		this.numbers.set(row, number);
		if (Number.isNaN(number)) this.others.set(row, detachedCopy(text));
		else this.others.delete(row);
	}

	isSet(row: number): boolean {
		return this.numbers.at(row) !== 0;
	}

	fingerprintOf(rows: readonly number[]): string {
		// With a million rows, `Float64Array.from` blocks n8n for 0.1 seconds.
		const numbers = new Float64Array(rows.length);
		let position = 0;
		for (const row of rows) numbers[position++] = this.numbers.at(row);
		const hasOthers = this.others.size > 0;
		const others = hasOthers ? rows.flatMap((row) => this.others.get(row) ?? []) : [];
		return fingerprint([fingerprintOfBytes(new Uint8Array(numbers.buffer)), others]);
	}

	has(row: number, text: string): boolean {
		const number = numberOf(text);
		return Number.isNaN(number) ? this.others.get(row) === text : this.numbers.at(row) === number;
	}
}

/** A number can store this many digits exactly. */
const MAX_DIGITS = 15;
const PLUS = 0x2b;
const ZERO = 0x30;

/**
 * The text as a number, negative if it starts with a plus, 0 if it is empty. NaN if the text couldn't be restored from it.
 * Reading digit by digit takes a quarter of the time of a regular expression.
 */
function numberOf(text: string): number {
	if (text === '') return 0;
	const start = text.charCodeAt(0) === PLUS ? 1 : 0;
	if (text.length - start > MAX_DIGITS) return NaN;
	let number = 0;
	for (let at = start; at < text.length; at++) {
		const digit = text.charCodeAt(at) - ZERO;
		if (digit < 0 || digit > 9) return NaN;
		number = 10 * number + digit;
		if (number === 0) return NaN;
	}
	if (number === 0) return NaN;
	return start === 0 ? number : -number;
}

const MAX_LOAD = 0.7;
const MIN_TABLE_CAPACITY = 64;
/** Spreads consecutive numbers over the upper bits. */
const SPREAD = 0x9e3779b1;
const TWO_TO_32 = 2 ** 32;
/** Random in each process, so that nobody can create a file whose numbers all collide. */
const [MIX_OF_LOWER, MIX_OF_UPPER] = [oddNumber(), oddNumber()];

function oddNumber(): number {
	return 2 * Math.floor(Math.random() * (TWO_TO_32 / 2)) + 1;
}

/** A 32-bit hash of a phone number. */
function hashOf(number: number): number {
	const mixed = Math.imul(number, MIX_OF_LOWER) + Math.imul(number / TWO_TO_32, MIX_OF_UPPER);
	return Math.imul(mixed ^ (mixed >>> 15), SPREAD);
}

/** The upper bits of a hash select the table. One large table would block n8n for 0.1 seconds when it grows. */
const TABLE_BITS = 5;

/** A map from phone numbers to rows. It takes about 20 bytes per number. */
export class RowsByPhone {
	private readonly tables: readonly PhoneTable[];
	/** For texts that aren't phone numbers. */
	private readonly others = new Map<string, number>();

	constructor(expected = 0) {
		const count = 2 ** TABLE_BITS;
		this.tables = Array.from({ length: count }, () => new PhoneTable(expected / count));
	}

	get(text: string): number | undefined {
		const number = numberOf(text);
		if (Number.isNaN(number)) return this.others.get(text);
		const hash = hashOf(number);
		return this.tableOf(hash)?.get(number, hash);
	}

	set(text: string, row: number): void {
		const number = numberOf(text);
		const hash = hashOf(number);
		if (Number.isNaN(number)) this.others.set(detachedCopy(text), row);
		else if (number !== 0) this.tableOf(hash)?.set(number, hash, row);
	}

	/** Sets the row, unless the number has one. @returns the row of the number */
	first(text: string, row: number): number {
		const number = numberOf(text);
		if (Number.isNaN(number)) {
			const earlier = this.others.get(text) ?? row;
			this.others.set(detachedCopy(text), earlier);
			return earlier;
		}
		const hash = hashOf(number);
		return number === 0 ? row : (this.tableOf(hash)?.first(number, hash, row) ?? row);
	}

	get size(): number {
		return this.tables.reduce((sum, { size }) => sum + size, this.others.size);
	}

	private tableOf(hash: number): PhoneTable | undefined {
		return this.tables[hash >>> (32 - TABLE_BITS)];
	}
}

/** A hash table with open addressing, in two typed arrays. */
class PhoneTable {
	/** The size is a power of two, and some slots are always free. */
	private numbers: Float64Array;
	private rows: Uint32Array;
	size = 0;

	constructor(expected: number) {
		const capacity = 2 ** Math.ceil(Math.log2(Math.max(MIN_TABLE_CAPACITY, expected / MAX_LOAD)));
		this.numbers = new Float64Array(capacity);
		this.rows = new Uint32Array(capacity);
	}

	get(number: number, hash: number): number | undefined {
		const slot = this.slotOf(number, hash);
		return this.numbers[slot] === 0 ? undefined : this.rows[slot];
	}

	first(number: number, hash: number, row: number): number {
		const earlier = this.get(number, hash);
		if (earlier === undefined) this.set(number, hash, row);
		return earlier ?? row;
	}

	set(number: number, hash: number, row: number): void {
		if (this.size >= MAX_LOAD * this.numbers.length) this.grow();
		const slot = this.slotOf(number, hash);
		if (this.numbers[slot] === 0) this.size++;
		this.numbers[slot] = number;
		this.rows[slot] = row;
	}

	/** The slot of the number, or the free slot for it. */
	private slotOf(number: number, hash: number): number {
		const last = this.numbers.length - 1;
		let slot = (hash << TABLE_BITS) >>> Math.clz32(last);
		while (this.numbers[slot] !== 0 && this.numbers[slot] !== number) slot = (slot + 1) & last;
		return slot;
	}

	private grow(): void {
		const { numbers, rows } = this;
		this.numbers = new Float64Array(2 * numbers.length);
		this.rows = new Uint32Array(2 * rows.length);
		this.size = 0;
		for (let slot = 0; slot < numbers.length; slot++) {
			const number = numbers[slot] ?? 0;
			if (number !== 0) this.set(number, hashOf(number), rows[slot] ?? 0);
		}
	}
}
