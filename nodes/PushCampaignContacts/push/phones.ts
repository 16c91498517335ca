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
			const numbers = Float64Array.from(some, (row) => Math.abs(this.numbers.at(row)));
			hash = fingerprint([hash, fingerprintOfBytes(new Uint8Array(numbers.buffer))]);
		}
		return hash;
	}

	private keyAt(row: number): string {
		const number = Math.abs(this.numbers.at(row));
		// Equal to String() for these numbers, and faster.
		return number === 0 ? '' : number.toFixed(0);
	}
}

function numberOf({ phone, key }: AcceptedPhone): number {
	return phone.length > key.length ? -Number(key) : Number(key);
}

const MAPS = 1_024;

/**
 * Finds the row of a key. Many small maps, because one large map would block n8n when it grows. In them, keys are small
 * integers, which take half of the memory.
 */
export class RowsByKey {
	private readonly maps = Array.from({ length: MAPS }, () => new Map<number, number>());

	get(key: string): number | undefined {
		const number = Number(key);
		return this.maps[number % MAPS]?.get(Math.floor(number / MAPS));
	}

	set(key: string, row: number): void {
		const number = Number(key);
		this.maps[number % MAPS]?.set(Math.floor(number / MAPS), row);
	}
}
