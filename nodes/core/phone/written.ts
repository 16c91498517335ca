import { withLatinDigits } from '../values/text';
import { KEEPS_ZERO } from './countries';

/** The digits of a number, without its formatting. */
export type Written = {
	digits: string;
	/** Whether a `+` precedes the digits, so that they begin with a country code. */
	plus: boolean;
};

/** Why a value is not a single number. `issue` follows the value in a sentence. */
export type Unreadable = { issue: string; resolution?: string };

/** Spaces, invisible characters (U+2800 is an empty Braille cell), dashes, brackets, and quotes. */
const DECORATION = /[\s\0\u2800\p{DI}\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212'"`]/gu;
/** Lead forms export `p:+91`, links have `tel:+91`, and `="+91"` keeps Excel from rounding. */
const AROUND = /^(?:[.,=]|p:|tel:)+|(?<![.,])[.,]+$/gi;
/** "+44 (0) 20": the zero is dialed within the country only. In Italy, it's part of the number. */
const BRACKETED_ZERO = /^\+(\d{1,3})[ -]*\( ?0 ?\)/;
const PLAINLY_WRITTEN = /^\+?\d[\d -]*$/;
const DIALED = /^\+?\d+$/;
const SCIENTIFIC = /^(\+?\d)(?:[.,](\d+))?e\+?(\d{1,2})$/i;
/** Directly before the first digit, a hyphen is the minus of a number. Before a space, it begins a list. */
const NEGATIVE = /^[\s\0\u2800\p{DI}\p{Cf}'"=]*[-\u2212]\d/u;
/** The E.164 limit, including the country code. */
const MAX_DIGITS = 15;
/** Programs write whole numbers with decimals, such as `9876543210.0`. With fewer digits, it may be a group. */
const MIN_DIGITS_BEFORE_ZEROS = 8;
/** A group of digits is longer. */
const MAX_DECIMALS = 2;
/**
 * A spreadsheet shows a number of 12 digits or more as 9.19877E+11, which becomes a number with these zeros. It removes zeros
 * before a number, so one that begins with 00, or has fewer digits after its zero, was text.
 */
const SHORTENED_DIGITS = /^0?[1-9]\d{5,}0{6}$/;

const SHORTENED: Unreadable = {
	issue: 'may have lost its last digits in a spreadsheet',
	resolution:
		'Format the phone column as text in the spreadsheet and enter the full numbers again.',
};
/** A cell with +91-98765 43210 becomes 91 minus 9876543210. */
const CALCULATED: Unreadable = {
	issue: 'may have been calculated by the spreadsheet, which subtracts what follows a hyphen',
	resolution:
		'Format the phone column as text in the spreadsheet and enter the full number again, such as +91 9876543210.',
};
const NOT_WHOLE: Unreadable = {
	issue: "isn't a whole phone number",
	resolution: 'Write the number without a dot or comma.',
};

/**
 * Reads a cell, a form field, or an expression result as one number. Removes only formatting, the decimals of a whole number,
 * and the zero in "+44 (0) 20". Rejects ambiguous values, so that no digit is lost or invented.
 */
export function readWritten(value: unknown): Written | Unreadable {
	if (typeof value === 'number' && value < 0) return CALCULATED;
	if (typeof value === 'number' && !(value > 0 && Number.isSafeInteger(value))) return NOT_WHOLE;
	if (typeof value !== 'string' && typeof value !== 'number')
		return { issue: 'is neither text nor a number' };
	const text = String(value);
	// Most numbers, which this reads much faster.
	if (PLAINLY_WRITTEN.test(text)) return readDialed(text.replace(/[ -]/g, ''));
	const latin = withLatinDigits(text).trim();
	if (NEGATIVE.test(latin)) return CALCULATED;
	const number = bare(
		latin.replace(BRACKETED_ZERO, (shown, code: string) =>
			KEEPS_ZERO.has(code) ? shown : `+${code}`,
		),
	);
	const scientific = SCIENTIFIC.exec(number);
	if (scientific) return readScientific(scientific);
	const whole = withoutDecimals(number);
	return whole === undefined ? NOT_WHOLE : readDialed(whole.replace(/[.,]/g, ''));
}

/** Such as `9.87654321E+09`. One missing digit is a final zero, but rounding drops more. */
function readScientific([, first = '', fraction = '', power = '']: string[]): Written | Unreadable {
	const exponent = Number(power);
	if (fraction.length > exponent) return NOT_WHOLE;
	if (fraction.length < exponent - 1) return SHORTENED;
	return readDialed(first + fraction.padEnd(exponent, '0'));
}

/** Dots and commas separate groups of digits, or decimals. Undefined if the number isn't whole, or if that isn't certain. */
function withoutDecimals(number: string): string | undefined {
	const [, before = '', point = '', after = ''] = /^(\+?[\d.,]*)([.,])(\d+)$/.exec(number) ?? [];
	if (point === '' || before.includes(point)) return number;
	if (/^0+$/.test(after))
		return digitsIn(before).length >= MIN_DIGITS_BEFORE_ZEROS ? before : undefined;
	const isGroup = after.length > MAX_DECIMALS && !/[.,]/.test(before);
	return isGroup ? number : undefined;
}

/** `dialed` should be digits with at most one leading `+`. */
function readDialed(dialed: string): Written | Unreadable {
	const count = digitsIn(dialed).length;
	if (count > MAX_DIGITS) {
		return {
			issue: `has ${count} digits, but a phone number has at most ${MAX_DIGITS}`,
			resolution: 'Enter a single number.',
		};
	}
	if (!DIALED.test(dialed)) return { issue: "isn't a phone number" };
	const plus = dialed.startsWith('+');
	if (!plus && SHORTENED_DIGITS.test(dialed)) return SHORTENED;
	return { digits: plus ? dialed.slice(1) : dialed, plus };
}

function bare(text: string): string {
	return text.replace(DECORATION, '').replace(AROUND, '');
}

/** Whether a value has no characters other than formatting. */
export function isBlank(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	return typeof value === 'string' && bare(value) === '';
}

export function digitsIn(text: string): string {
	return withLatinDigits(text).replace(/\D/g, '');
}

/** Digits by which numbers are compared whose country code or prefixes may be missing. */
export const COMPARED_DIGITS = 10;

/**
 * The last ten digits, by which numbers are compared that may be written in any format. One that has fewer, without the zeros
 * before them, or the 8 that some countries dial instead, is compared with the end of another one.
 */
export function lastDigits(phone: string): string {
	return digitsIn(phone)
		.slice(-COMPARED_DIGITS)
		.replace(/^(?:0+|8(?=\d{7,8}$))/, '');
}
