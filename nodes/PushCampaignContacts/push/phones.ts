import type { AcceptedPhone } from '../../shared/phone/campaignPhone';
import { fingerprint, fingerprintOfBytes } from '../../shared/hash';
import { Pauses } from '../../shared/pauses';
import type { RowSet } from './rowSet';
import { INDIAN_CODE } from '../../shared/phone/india';

/** 65,536 rows per typed array. Growing one large array would block n8n, and need three times the memory for a moment. */
const PART_BITS = 16;
const ROWS_PER_PART = 2 ** PART_BITS;
const LAST_IN_PART = ROWS_PER_PART - 1;

type NumberArray = Float64Array | Uint32Array | Uint16Array;

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

/** Keeps the memory of a fingerprint small. */
const ROWS_PER_HASH = 2_000;

/** The `phone_key` of a row, equal for equal phones in any format. Empty if the row has no phone. */
export type KeyOf = (row: number) => string;

/** The same as a number, or 0 if the row has no phone. */
export type KeyNumberOf = (row: number) => number;

/**
 * The phone of each row, in 8 bytes: its `phone_key`, negative if it's sent with +91. As strings, phones would need most of
 * the memory of a push with a million rows.
 */
export class PhonesByRow {
	private readonly numbers = new NumbersByRow(Float64Array);

	/** The phone as sent. Empty if none was set. */
	at(row: number): string {
		const key = this.keyAt(row);
		return this.numbers.at(row) < 0 ? `+${key}` : key.slice(INDIAN_CODE.length);
	}

	readonly keyAt: KeyOf = (row) => {
		const number = this.keyNumberAt(row);
		// Equal to String() for these numbers, and faster.
		return number === 0 ? '' : number.toFixed(0);
	};

	readonly keyNumberAt: KeyNumberOf = (row) => Math.abs(this.numbers.at(row));

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
	async fingerprintOf(rows: RowSet): Promise<string> {
		let hash = '';
		const pauses = new Pauses();
		for (const some of rows.lists(ROWS_PER_HASH)) {
			if (pauses.isDue()) await pauses.take();
			const numbers = new Float64Array(some.map(this.keyNumberAt));
			hash = fingerprint([hash, fingerprintOfBytes(new Uint8Array(numbers.buffer))]);
		}
		return hash;
	}
}

function numberOf({ phone, phoneKey }: AcceptedPhone): number {
	return phone.length > phoneKey.length ? -Number(phoneKey) : Number(phoneKey);
}

/** Up to 16 MB of buckets of rows with the same hash. With ten million rows, a bucket has two or three. */
const MAX_BUCKET_BITS = 22;
/** Spreads consecutive numbers over the upper bits. */
const SPREAD = 0x9e3779b1;
const TWO_TO_32 = 2 ** 32;
/** Random in each process, so that nobody can create a file whose numbers all collide. */
const [MIX_OF_LOWER, MIX_OF_UPPER] = [oddNumber(), oddNumber()];

/**
 * Finds the row of a phone. A `Map` of a million phones would need ten times the memory, and block n8n each time it grows.
 */
export class RowsByPhone {
	/** The latest row of each bucket, plus one. */
	private readonly latest = new NumbersByRow(Uint32Array);
	/** For each row, the one before it in its bucket, plus one. */
	private readonly previous = new NumbersByRow(Uint32Array);
	private readonly bucketBits: number;

	/** @param rows about how many there will be, for as many buckets. 0 if that isn't known. */
	constructor(
		private readonly phones: PhonesByRow,
		rows: number,
	) {
		const bits = rows === 0 ? MAX_BUCKET_BITS : Math.ceil(Math.log2(rows + 1));
		this.bucketBits = Math.min(bits, MAX_BUCKET_BITS);
	}

	/** Only a row that still has its phone is found. */
	get(key: string): number | undefined {
		const number = Number(key);
		let row = this.latest.at(this.bucketOf(number)) - 1;
		while (row >= 0 && this.phones.keyNumberAt(row) !== number) row = this.previous.at(row) - 1;
		return row < 0 ? undefined : row;
	}

	/** Adds a row whose phone is set. */
	add(row: number): void {
		const bucket = this.bucketOf(this.phones.keyNumberAt(row));
		this.previous.set(row, this.latest.at(bucket));
		this.latest.set(bucket, row + 1);
	}

	private bucketOf(number: number): number {
		const mixed = Math.imul(number, MIX_OF_LOWER) + Math.imul(number / TWO_TO_32, MIX_OF_UPPER);
		return Math.imul(mixed ^ (mixed >>> 15), SPREAD) >>> (32 - this.bucketBits);
	}
}

function oddNumber(): number {
	return 2 * Math.floor(Math.random() * (TWO_TO_32 / 2)) + 1;
}
