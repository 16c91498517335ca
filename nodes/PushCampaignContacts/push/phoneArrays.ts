import { fingerprint, fingerprintOfBytes } from '../../shared/hash';
import { detachedCopy } from '../../shared/values';

/** By row, as an array has it. */
export type ByRow<T> = { at(row: number): T | undefined };

/** At least; it doubles. */
const ROOM = 1_024;

/** A number for each row, 0 where none was set. How many rows a file has shows only at its end, so it grows. */
export class NumbersByRow implements ByRow<number> {
	private numbers: Float64Array;

	constructor(expected = 0) {
		this.numbers = new Float64Array(Math.max(ROOM, expected));
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
 * A text for each row, the empty one where none was set. Phone numbers take 8 bytes each: as strings, those of a million
 * rows would be most of what a push from a file holds.
 */
export class PhonesByRow implements ByRow<string> {
	private readonly numbers: NumbersByRow;
	/** Of those that are no phone number. */
	private readonly others = new Map<number, string>();

	constructor(expected = 0) {
		this.numbers = new NumbersByRow(expected);
	}

	at(row: number): string {
		const number = this.numbers.at(row);
		// For whole numbers of this size the same as String, and quicker.
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

	/** A name for the texts of these rows, in their order. */
	fingerprintOf(rows: readonly number[]): string {
		// For a million rows, `Float64Array.from` would hold up n8n for a tenth of a second.
		const numbers = new Float64Array(rows.length);
		let place = 0;
		for (const row of rows) numbers[place++] = this.numbers.at(row);
		const hasOthers = this.others.size > 0;
		const others = hasOthers ? rows.flatMap((row) => this.others.get(row) ?? []) : [];
		return fingerprint([fingerprintOfBytes(new Uint8Array(numbers.buffer)), others]);
	}

	has(row: number, text: string): boolean {
		const number = numberOf(text);
		return Number.isNaN(number) ? this.others.get(row) === text : this.numbers.at(row) === number;
	}
}

/** A number keeps so many exactly. */
const MAX_DIGITS = 15;
const PLUS = 0x2b;
const ZERO = 0x30;

/**
 * The number that gives the same text back, with a plus as a negative one, and 0 for no text; otherwise NaN. Digit by
 * digit, which for a million rows is a quarter of the time that a regular expression takes.
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
const MIN_ROOM = 64;
/** Consecutive numbers, times this, lie far apart in their upper bits. */
const SPREAD = 0x9e3779b1;
const TWO_TO_32 = 2 ** 32;
/** Of this process alone: who writes a file must not know which phone numbers would all be looked for in one place. */
const [MIX_OF_LOWER, MIX_OF_UPPER] = [oddNumber(), oddNumber()];

function oddNumber(): number {
	return 2 * Math.floor(Math.random() * (TWO_TO_32 / 2)) + 1;
}

/** Each phone number, spread over all 32 bits. */
function hashOf(number: number): number {
	const mixed = Math.imul(number, MIX_OF_LOWER) + Math.imul(number / TWO_TO_32, MIX_OF_UPPER);
	return Math.imul(mixed ^ (mixed >>> 15), SPREAD);
}

/** Their upper bits name the table. A single large one would hold up n8n for a tenth of a second when it grows. */
const TABLE_BITS = 5;

/** The row of each phone number, as a Map has it, in some twenty bytes a number. */
export class RowsByPhone {
	private readonly tables: readonly PhoneTable[];
	/** Of texts that are no phone number. */
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

	/** Sets the row unless there is one, and gives back the one that there is. */
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
		return this.tables.reduce((sum, { taken }) => sum + taken, this.others.size);
	}

	private tableOf(hash: number): PhoneTable | undefined {
		return this.tables[hash >>> (32 - TABLE_BITS)];
	}
}

/** A hash table in two typed arrays. */
class PhoneTable {
	/** Where a number is looked for, and at the next place where another one stands; a power of two, and never full. */
	private numbers: Float64Array;
	private rows: Uint32Array;
	taken = 0;

	constructor(expected: number) {
		const room = 2 ** Math.ceil(Math.log2(Math.max(MIN_ROOM, expected / MAX_LOAD)));
		this.numbers = new Float64Array(room);
		this.rows = new Uint32Array(room);
	}

	get(number: number, hash: number): number | undefined {
		const place = this.placeOf(number, hash);
		return this.numbers[place] === 0 ? undefined : this.rows[place];
	}

	first(number: number, hash: number, row: number): number {
		const earlier = this.get(number, hash);
		if (earlier === undefined) this.set(number, hash, row);
		return earlier ?? row;
	}

	set(number: number, hash: number, row: number): void {
		if (this.taken >= MAX_LOAD * this.numbers.length) this.grow();
		const place = this.placeOf(number, hash);
		if (this.numbers[place] === 0) this.taken++;
		this.numbers[place] = number;
		this.rows[place] = row;
	}

	/** Where the number is, or where there is room for it. */
	private placeOf(number: number, hash: number): number {
		const last = this.numbers.length - 1;
		let place = (hash << TABLE_BITS) >>> Math.clz32(last);
		while (this.numbers[place] !== 0 && this.numbers[place] !== number) place = (place + 1) & last;
		return place;
	}

	private grow(): void {
		const { numbers, rows } = this;
		this.numbers = new Float64Array(2 * numbers.length);
		this.rows = new Uint32Array(2 * rows.length);
		this.taken = 0;
		for (let place = 0; place < numbers.length; place++) {
			const number = numbers[place] ?? 0;
			if (number !== 0) this.set(number, hashOf(number), rows[place] ?? 0);
		}
	}
}
