import { isErrorValue } from '../values/sheetCells';
import { withLatinDigits } from '../values/text';
import { hasTrunkZero } from './countries';

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
const EXTENSION = /\d[\s,;.-]*(?:extension|extn?|x|#)[\s.:=]*\d{1,5}$/i;
const PLAINLY_WRITTEN = /^\+?\d[\d -]*$/;
const PLAIN_FORMATTING = /[ -]/g;
const WIDE_PLUS = /^\uff0b/;
const DIALED = /^\+?\d+$/;
const SCIENTIFIC = /^(\+?\d)(?:[.,](\d+))?e\+?(\d{1,2})$/i;
/** Directly before the first digit, a hyphen is the minus of a number. Before a space, it begins a list. */
const NEGATIVE = /^[\s\0\u2800\p{DI}\p{Cf}'"=]*[-\u2212]\d/u;
const MIN_DIGITS_OF_TWO = 20;
/** No format of a number is longer. Longer text isn't parsed. */
const MAX_CHARACTERS = 100;
/** The E.164 limit, including the country code. */
const MAX_DIGITS = 15;
/** Programs write whole numbers with decimals, such as `9876543210.0`. With fewer digits, it may be a group. */
const MIN_DIGITS_BEFORE_ZEROS = 8;
/** A group of digits is longer. */
const MAX_DECIMALS = 2;
const COMPLETE_DIGITS = 10;
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
const ERROR_VALUE: Unreadable = {
	issue: 'is what a spreadsheet shows if a formula fails',
	resolution: 'Correct the formula of the cell, or enter the number.',
};

/** Advice to add if the value, which has no digit, may be the name of a column. */
export function columnAdvice(value: unknown, label: string): string {
	if (typeof value !== 'string' || digitsIn(value) !== '' || isErrorValue(value)) return '';
	return ` In n8n, drag a column to '${label}' to use its numbers.`;
}

const NO_NUMBER: Unreadable = { issue: "isn't a phone number" };
const NOT_WHOLE: Unreadable = {
	issue: "isn't a whole phone number",
	resolution: 'Write the number without a dot or comma.',
};

/**
 * Reads a cell, a form field, or an expression result as one number. Removes only formatting, the decimals of a whole number,
 * and the zero in "+44 (0) 20". Rejects ambiguous values, so that no digit is lost or invented.
 */
export function readWritten(value: unknown): Written | Unreadable {
	if (typeof value === 'number') {
		if (!Number.isSafeInteger(value) || value === 0) return NOT_WHOLE;
		return value > 0 ? readDialed(String(value)) : CALCULATED;
	}
	if (typeof value !== 'string') return { issue: 'is neither text nor a number' };
	if (PLAINLY_WRITTEN.test(value)) return readDialed(value.replace(PLAIN_FORMATTING, ''));
	const written = value.trim();
	if (written.length > MAX_CHARACTERS) return readDialed(written);
	if (isErrorValue(written)) return ERROR_VALUE;
	const trimmed = withLatinDigits(written).replace(WIDE_PLUS, '+');
	if (NEGATIVE.test(trimmed)) return CALCULATED;
	if (EXTENSION.test(trimmed)) {
		return { issue: 'has an extension', resolution: 'Write the number without its extension.' };
	}
	const text = bare(
		trimmed.replace(BRACKETED_ZERO, (shown, code: string) =>
			hasTrunkZero(code) ? `+${code}` : shown,
		),
	);
	const scientific = SCIENTIFIC.exec(text);
	if (scientific) return readScientific(scientific);
	const whole = withoutDecimals(text);
	return whole === undefined ? NOT_WHOLE : readDialed(whole.replace(/[.,]/g, ''));
}

export function isWritten(reading: Written | Unreadable): reading is Written {
	return 'digits' in reading;
}

export function digitsIn(text: string): string {
	return withLatinDigits(text).replace(/\D/g, '');
}

/** Whether a value has no characters other than formatting. */
export function isBlank(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	return typeof value === 'string' && bare(value) === '';
}

/** `dialed` should be digits with at most one leading `+`. */
function readDialed(dialed: string): Written | Unreadable {
	if (dialed.length >= MIN_DIGITS_OF_TWO && digitsIn(dialed).length >= MIN_DIGITS_OF_TWO) {
		return {
			issue: 'contains more than one phone number',
			resolution: 'Keep only one number.',
		};
	}
	if (!DIALED.test(dialed)) return NO_NUMBER;
	const plus = dialed.startsWith('+');
	const digits = plus ? dialed.slice(1) : dialed;
	if (plus && digits.length > MAX_DIGITS) {
		return {
			issue: `has ${digits.length} digits, but a phone number has at most ${MAX_DIGITS}`,
		};
	}
	return !plus && SHORTENED_DIGITS.test(digits) ? SHORTENED : { digits, plus };
}

/** Such as `9.87654321E+09`. One missing digit is a final zero, but rounding drops more. */
function readScientific([, first = '', fraction = '', power = '']: string[]): Written | Unreadable {
	const exponent = Number(power);
	if (fraction.length > exponent) return NOT_WHOLE;
	if (fraction.length < exponent - 1) return SHORTENED;
	return readDialed(first + fraction.padEnd(exponent, '0'));
}

function bare(text: string): string {
	return text.replace(DECORATION, '').replace(AROUND, '');
}

/** Dots or commas separate groups of digits, or decimals. Undefined if the number isn't whole, or if that isn't certain. */
function withoutDecimals(text: string): string | undefined {
	const [, before = '', point = ''] = /^(.*)([.,])0+$/.exec(text) ?? [];
	const isWhole = !before.includes(point) && digitsIn(before).length >= MIN_DIGITS_BEFORE_ZEROS;
	const number = isWhole ? before : text;
	if (number.includes('.') && number.includes(',')) return undefined;
	const [first = '', second, third] = number.split(/[.,]/);
	if (second === undefined || third !== undefined) return number;
	// With one point, they're decimals, unless they can only be a group, or another number.
	const isGroup = second.length > MAX_DECIMALS && !/^0+$/.test(second);
	const followsComplete =
		digitsIn(first).length >= COMPLETE_DIGITS && second.length < COMPLETE_DIGITS;
	return isGroup && !followsComplete ? number : undefined;
}
