import { normalized } from '../text';
import { forEveryone, type Resolution } from '../api/resolution';
import { hasTrunkZero } from './countries';

/** The digits of a number, without its formatting. */
export type Written = {
	digits: string;
	/** Whether a `+` precedes the digits, so that they begin with a country code. */
	plus: boolean;
};

/** Why a value is not a single number. `issue` follows the value in a sentence. */
export type Unreadable = { issue: string; resolution?: Resolution };

/** Lead forms export `p:+91`, links have `tel:+91`, and `="+91"` keeps Excel from rounding. */
const WRAPPING = /^(?:=?["']|(?:p|tel):)+|["']$/gi;
/** Spaces, invisible characters, dashes, brackets, quotes, and separators. */
const DECORATION = /[\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`]/gu;
/** The same characters before and after a number. */
const DECORATION_AROUND =
	/^[\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`]+|(?<![\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`])[\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`]+$/gu;
const PLAINLY_WRITTEN = /^\+?[\d -]+$/;
const PLAIN_FORMATTING = /[ -]/g;
const DIALED = /^\+?\d+$/;
const SCIENTIFIC = /^(\+?\d+)(?:[.,](\d+))?e\+?(\d{1,2})$/i;
/** `9,876,543,210`, or `9,87,65,43,210` in India. Some countries use dots for groups and a decimal comma. */
const GROUPED = /^\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?$/;
const GROUPED_BY_DOTS = /^\d{1,3}(?:\.\d{3})+,\d+$/;
const ONE_POINT = /^([^.,]*)[.,](\d+)$/;
/** The last dot or comma, followed only by zeros. */
const POINT_AND_ZEROS = /^([^]*)([.,])(0+)$/;
/** "+44 (0) 20": a zero in brackets after the country code. */
const BRACKETED_ZERO = /^(\D*\d[\d\s)-]*)\(\s*0\s*\)/;
const NOT_ASCII = /[^\x20-\x7e]/gu;
/** A digit of any script, but not a superscript, circled digit, or fraction (`No`). */
const DECIMAL_DIGIT = /^\p{Nd}$/u;
/** Scientific notation without its exponent. `+1.` and `+7.` are country codes. */
const MANTISSA = /^(?:\d|\+[^17])[.,]\d+$/;
const MIN_DIGITS_OF_TWO = 20;
/** No format of a number is longer. Longer text isn't parsed. */
const MAX_CHARACTERS = 100;
/** The E.164 limit, including the country code. */
const MAX_DIGITS = 15;
/** Programs write whole numbers with up to two decimals. */
const USUAL_DECIMALS = 2;
const WHOLE_NUMBER_DIGITS = 10;
/** One missing digit is a dropped final zero. Rounding drops more digits. */
const UNWRITTEN_ZEROS = 1;

export const SHORTENED: Unreadable = {
	issue: 'was rounded by a spreadsheet, so its last digits are lost',
	resolution: {
		onScreen:
			'Format the phone column as text in the spreadsheet and enter the full numbers again.',
		forModel: 'Give all digits of the number.',
	},
};

/** Advice to add if the value, which has no digit, may be the name of a column. */
export function columnAdvice(value: unknown, label: string): string {
	if (typeof value !== 'string' || /\d/.test(value)) return '';
	return ` To use the numbers of a column, drag the column to '${label}'.`;
}

const NO_NUMBER: Unreadable = { issue: "isn't a phone number" };
const NOT_WHOLE: Unreadable = { issue: "isn't a whole phone number" };
const DECIMALS: Unreadable = { issue: "has decimals, so it isn't a phone number" };
const AMBIGUOUS: Unreadable = {
	issue: 'is ambiguous, because its last zeros may be digits or decimals',
	resolution: forEveryone('Write the number without a dot or comma.'),
};

/**
 * Reads a cell, a form field, or an expression result as one number. Removes only formatting, the decimals of a whole
 * number, and the zero in "+44 (0) 20". Rejects ambiguous values, so that no digit is lost or invented.
 */
export function readWritten(value: unknown): Written | Unreadable {
	if (typeof value === 'number') {
		return Number.isSafeInteger(value) && value > 0 ? readDialed(String(value)) : NOT_WHOLE;
	}
	if (typeof value !== 'string')
		return { issue: `contains ${kindOf(value)} instead of a number or text` };
	return PLAINLY_WRITTEN.test(value)
		? readDialed(value.replace(PLAIN_FORMATTING, ''))
		: readCell(value);
}

/** Only digits, separators, and signs that hide digits. */
const MASKED = /^(?=.*[x*#•]{2})(?=.*\d)[-+\d\s().x*#•]+$/i;

/** Whether a service hides digits of a number, as in `+91XXXXXX3210`. */
export function isMasked(text: string): boolean {
	return MASKED.test(text);
}

export function isWritten(reading: Written | Unreadable): reading is Written {
	return 'digits' in reading;
}

export function digitsIn(text: string): string {
	return text.replace(/\D/g, '');
}

/** Whether a value has no characters other than formatting. */
export function isBlank(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	return typeof value === 'string' && value.replace(DECORATION, '') === '';
}

function readCell(cell: string): Written | Unreadable {
	const trimmed = cell.trim();
	if (trimmed.length > MAX_CHARACTERS) return readDialed(trimmed);
	const text = bare(bare(toAscii(trimmed)).replace(WRAPPING, ''));
	const scientific = SCIENTIFIC.exec(text.replace(/\s/g, ''));
	if (scientific) return readScientific(scientific);
	const whole = withoutDecimals(ungrouped(text));
	return typeof whole === 'string'
		? readDialed(withoutBracketedZero(whole).replace(DECORATION, ''))
		: whole;
}

/** `dialed` should be digits with at most one leading `+`. */
function readDialed(dialed: string): Written | Unreadable {
	if (digitsIn(dialed).length >= MIN_DIGITS_OF_TWO) {
		return {
			issue: 'contains more than one phone number',
			resolution: forEveryone('Keep only one number.'),
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
	return { digits, plus };
}

function readScientific([, whole = '', fraction = '', power = '']: string[]): Written | Unreadable {
	const exponent = Number(power);
	if (exponent - fraction.length > UNWRITTEN_ZEROS) return SHORTENED;
	if (/[^0]/.test(fraction.slice(exponent))) return NOT_WHOLE;
	return readDialed(whole + fraction.slice(0, exponent).padEnd(exponent, '0'));
}

function bare(text: string): string {
	return text.replace(DECORATION_AROUND, '');
}

function ungrouped(text: string): string {
	if (GROUPED.test(text)) return text.replaceAll(',', '');
	return GROUPED_BY_DOTS.test(text) ? text.replaceAll('.', '') : text;
}

/** Removes the decimals of a whole number, before its digits are counted. */
function withoutDecimals(text: string): string | Unreadable {
	if (mayBeDecimals(text)) return AMBIGUOUS;
	const [, before = '', after = ''] = ONE_POINT.exec(text) ?? [];
	if (!/\d/.test(before)) return text;
	const isNumeral = /^\+?\d+$/.test(before);
	const isLong = digitsIn(before).length >= WHOLE_NUMBER_DIGITS;
	const isShort = after.length <= USUAL_DECIMALS;
	if (/^0+$/.test(after)) {
		const isDecimal = isNumeral ? isShort || isLong : isShort && isLong;
		return isDecimal ? before : AMBIGUOUS;
	}
	if (MANTISSA.test(text)) return DECIMALS;
	return (isNumeral || isLong) && (isShort || (isLong && after.length < WHOLE_NUMBER_DIGITS))
		? DECIMALS
		: text;
}

/** Whether zeros after the last separator may be decimals: a single zero, or any number after both dots and commas. */
function mayBeDecimals(text: string): boolean {
	const [, before = '', point, zeros] = POINT_AND_ZEROS.exec(text) ?? [];
	return zeros === '0' ? /[.,]/.test(before) : before.includes(point === '.' ? ',' : '.');
}

/** Only if the country has a trunk zero. Otherwise, the zero is part of the number. */
function withoutBracketedZero(text: string): string {
	return text.replace(BRACKETED_ZERO, (shown: string, before: string) => {
		const isDialedFromAbroad = /^\W*(?:\+|00)/.test(before);
		const digits = digitsIn(before).replace(/^00/, '');
		return isDialedFromAbroad && hasTrunkZero(digits) ? before : shown;
	});
}

/** Converts decimal digits of every script to 0 to 9. No other character becomes a digit. */
function toAscii(text: string): string {
	return text.replace(NOT_ASCII, (character) => {
		if (DECIMAL_DIGIT.test(character)) return digitValue(character);
		const plain = normalized(character, 'NFKC');
		return /\d/.test(plain) ? character : plain;
	});
}

/** Unicode has the digits of a script in a row, so a run of them has a multiple of ten. */
function digitValue(digit: string): string {
	const own = digit.codePointAt(0) ?? 0;
	let before = own - 1;
	while (DECIMAL_DIGIT.test(String.fromCodePoint(before))) before--;
	return String((own - before - 1) % 10);
}

function kindOf(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
