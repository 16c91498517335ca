import { fingerprint, fingerprintOfBytes } from '../../shared/hash';
import { detachedCopy } from '../../shared/values';
import { NumbersByRow } from './numbersByRow';
import { ROWS_PER_YIELD, type YieldToEventLoop } from './pushTypes';
import type { RowSet } from './rowSet';

/** Values by row, read like an array. */
export type ByRow<T> = { at(row: number): T | undefined };

/**
 * A text for each row, empty if none was set. Phone numbers take 8 bytes each. As strings, they would need most of the
 * memory of a push with a million rows.
 */
export class PhonesByRow implements ByRow<string> {
	private readonly numbers = new NumbersByRow(Float64Array);
	/** Texts that aren't phone numbers, by row. */
	private readonly others = new Map<number, string>();

	at(row: number): string {
		return textOf(this.numbers.at(row)) ?? this.others.get(row) ?? '';
	}

	/** The text as a number, see {@link phoneAsNumber}. */
	numberAt(row: number): number {
		return this.numbers.at(row);
	}

	set(row: number, text: string): void {
		const number = phoneAsNumber(text);
		this.numbers.set(row, number);
		if (Number.isNaN(number)) this.others.set(row, detachedCopy(text));
		else this.others.delete(row);
	}

	isSet(row: number): boolean {
		return this.numbers.at(row) !== 0;
	}

	has(row: number, text: string): boolean {
		const number = phoneAsNumber(text);
		return Number.isNaN(number) ? this.others.get(row) === text : this.numbers.at(row) === number;
	}
}

/**
 * The key of each row's phone, which is equal for equal numbers in any format. Nearly all keys are the phone without +91,
 * so only the others take memory.
 */
export class KeysByRow implements ByRow<string> {
	private readonly others = new Map<number, string>();

	constructor(private readonly phones: PhonesByRow) {}

	at(row: number): string {
		return textOf(this.numberAt(row)) ?? this.others.get(row) ?? this.phones.at(row);
	}

	/** The key as a number, see {@link phoneAsNumber}. */
	numberAt(row: number): number {
		const other = this.others.size === 0 ? undefined : this.others.get(row);
		return other === undefined
			? withoutCountryCode(this.phones.numberAt(row))
			: phoneAsNumber(other);
	}

	/** Sets the key of a row whose phone is set. */
	set(row: number, key: string): void {
		this.others.delete(row);
		if (this.at(row) !== key) this.others.set(row, detachedCopy(key));
	}

	/** Identifies these keys in this order. */
	async fingerprintOf(rows: RowSet, yieldToEventLoop: YieldToEventLoop): Promise<string> {
		let hash = '';
		for (let start = 0; start < rows.size; start += ROWS_PER_YIELD) {
			await yieldToEventLoop();
			const some = rows.slice(start, start + ROWS_PER_YIELD);
			const numbers = Float64Array.from(some, (row) => this.numberAt(row));
			const others = some.filter((row) => Number.isNaN(this.numberAt(row)));
			const texts = others.map((row) => this.at(row));
			hash = fingerprint([hash, fingerprintOfBytes(new Uint8Array(numbers.buffer)), ...texts]);
		}
		return hash;
	}
}

/** A phone of India with its country code, as a number. */
const [FIRST_OF_INDIA, LAST_OF_INDIA] = [-911_000_000_000, -919_999_999_999];
const COUNTRY_CODE = 910_000_000_000;

function withoutCountryCode(number: number): number {
	// A key that starts with 0 isn't a number.
	return number <= FIRST_OF_INDIA && number >= LAST_OF_INDIA ? -number - COUNTRY_CODE : number;
}

/** Undefined if the number isn't the whole text. */
function textOf(number: number): string | undefined {
	// Equal to String() for these numbers, and faster.
	if (number > 0) return number.toFixed(0);
	if (number < 0) return `+${(-number).toFixed(0)}`;
	return number === 0 ? '' : undefined;
}

/** A number can store this many digits exactly. */
const MAX_DIGITS = 15;
const PLUS = 0x2b;
const ZERO = 0x30;

/**
 * The text as a number, negative if it starts with a plus, 0 if it is empty. NaN if the text couldn't be restored from it.
 * Reading digit by digit takes a quarter of the time of a regular expression.
 */
export function phoneAsNumber(text: string): number {
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
