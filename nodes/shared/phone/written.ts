import { normalized } from '../text';
import { forEveryone, type Resolution } from '../api/modelAdvice';
import { hasTrunkZero } from './callingCodes';

/** A number as someone wrote it, with the formatting taken off: every digit, in its order. */
export type Written = {
	digits: string;
	/** A `+` in front says that the digits begin with a country code. */
	plus: boolean;
};

/** What keeps a value from being read as one number; `what` follows the value in a sentence. */
export type Unreadable = { what: string; resolution?: Resolution };

/** Lead-form exports write `p:+91…`, links write `tel:+91…`, and `="…"` is a common way to keep Excel from rounding. */
const WRAPPING = /^(?:=?["']|(?:p|tel):)+|["']$/gi;
/** Spaces of every kind, invisible characters, dashes, brackets, quotes and separators carry no information. */
const DECORATION = /[\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`]/gu;
/** The same around a number, where it would hide how the number ends. */
const DECORATION_AROUND =
	/^[\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`]+|(?<![\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`])[\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`]+$/gu;
const PLAINLY_WRITTEN = /^\+?[\d -]+$/;
const PLAIN_FORMATTING = /[ -]/g;
const DIALLED = /^\+?\d+$/;
const SCIENTIFIC = /^(\+?\d+)(?:[.,](\d+))?e\+?(\d{1,2})$/i;
/** `9,876,543,210`, in India also `9,87,65,43,210`; elsewhere the dot groups and the comma is the decimal point. */
const GROUPED = /^\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?$/;
const GROUPED_BY_DOTS = /^\d{1,3}(?:\.\d{3})+,\d+$/;
const ONE_POINT = /^([^.,]*)[.,](\d+)$/;
/** The last point, and nothing but zeros after it. */
const POINT_AND_ZEROS = /^([^]*)([.,])(0+)$/;
/** "+44 (0) 20 …": a zero in brackets after the country code. */
const BRACKETED_ZERO = /^(\D*\d[\d\s-]*)\(\s*0\s*\)/;
const NOT_ASCII = /[^\x20-\x7e]/gu;
/** A digit of any script. Superscripts, circled digits, and fractions (`No`) aren't. */
const DECIMAL_DIGIT = /^\p{Nd}$/u;
/** What scientific notation looks like without its exponent. `+1.` and `+7.` are country codes. */
const MANTISSA = /^(?:\d|\+[^17])[.,]\d+$/;
const TWO_NUMBERS = 20;
/** No way of writing a number takes more characters: what is longer is not taken apart. */
const LONGEST_WRITTEN = 100;
/** E.164: no number in the world is longer, its country code included. */
const MAX_DIGITS = 15;
/** Programs write whole numbers with one decimal place or two. */
const USUAL_DECIMALS = 2;
const WHOLE_NUMBER_DIGITS = 10;
/** One missing digit is a final zero that was left unwritten; rounding for display drops many more. */
const UNWRITTEN_ZEROS = 1;

export const SHORTENED: Unreadable = {
	what: 'was shortened by a spreadsheet, which has dropped its last digits',
	resolution: {
		onScreen:
			'Format the phone column as text in the spreadsheet and enter the full numbers again.',
		forModel: 'Give all digits of the number.',
	},
};
const NO_NUMBER: Unreadable = { what: 'is not a phone number' };
const NOT_WHOLE: Unreadable = { what: 'is not a whole phone number' };
const DECIMALS: Unreadable = { what: 'has decimals, which no phone number has' };
const TWO_READINGS: Unreadable = {
	what: 'can be read in two ways, with the last zeros as digits or as decimals',
	resolution: forEveryone('Write the number without a dot or comma.'),
};

/**
 * Reads a cell, a form field or an expression's result as one number. No digit is invented and none
 * is lost: what goes is formatting, the decimals of a whole number, and a zero that "+44 (0) 20 …"
 * marks as not dialled. What could be read in two ways is not read.
 */
export function readWritten(value: unknown): Written | Unreadable {
	if (typeof value === 'number') {
		return Number.isSafeInteger(value) && value > 0 ? readDialled(String(value)) : NOT_WHOLE;
	}
	if (typeof value !== 'string')
		return { what: `holds ${kindOf(value)} instead of a number or text` };
	return PLAINLY_WRITTEN.test(value)
		? readDialled(value.replace(PLAIN_FORMATTING, ''))
		: readCell(value);
}

export function isWritten(reading: Written | Unreadable): reading is Written {
	return 'digits' in reading;
}

/** Whether there is nothing to read: no character that could be part of a number or of words. */
export function isBlank(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	return typeof value === 'string' && value.replace(DECORATION, '') === '';
}

function readCell(cell: string): Written | Unreadable {
	const trimmed = cell.trim();
	if (trimmed.length > LONGEST_WRITTEN) return readDialled(trimmed);
	const text = bare(bare(toAscii(trimmed)).replace(WRAPPING, ''));
	const scientific = SCIENTIFIC.exec(text.replace(/\s/g, ''));
	if (scientific) return readScientific(scientific);
	const whole = withoutDecimals(ungrouped(text));
	return typeof whole === 'string'
		? readDialled(withoutBracketedZero(whole).replace(DECORATION, ''))
		: whole;
}

/** `dialled` should be digits with at most one leading `+`. */
function readDialled(dialled: string): Written | Unreadable {
	if (dialled.replace(/\D/g, '').length >= TWO_NUMBERS) {
		return {
			what: 'holds more than one phone number',
			resolution: forEveryone('Keep one number.'),
		};
	}
	if (!DIALLED.test(dialled)) return NO_NUMBER;
	const plus = dialled.startsWith('+');
	const digits = plus ? dialled.slice(1) : dialled;
	if (plus && digits.length > MAX_DIGITS) {
		return {
			what: `has ${digits.length} digits, and no phone number has more than ${MAX_DIGITS}`,
		};
	}
	return { digits, plus };
}

function readScientific([, whole = '', fraction = '', power = '']: string[]): Written | Unreadable {
	const exponent = Number(power);
	if (exponent - fraction.length > UNWRITTEN_ZEROS) return SHORTENED;
	if (/[^0]/.test(fraction.slice(exponent))) return NOT_WHOLE;
	return readDialled(whole + fraction.slice(0, exponent).padEnd(exponent, '0'));
}

function bare(text: string): string {
	return text.replace(DECORATION_AROUND, '');
}

function ungrouped(text: string): string {
	if (GROUPED.test(text)) return text.replaceAll(',', '');
	return GROUPED_BY_DOTS.test(text) ? text.replaceAll('.', '') : text;
}

/** Drops the decimals of a whole number, before anyone counts its digits. */
function withoutDecimals(text: string): string | Unreadable {
	if (mayBeDecimals(text)) return TWO_READINGS;
	const [, before = '', after = ''] = ONE_POINT.exec(text) ?? [];
	if (!/\d/.test(before)) return text;
	const isNumeral = /^\+?\d+$/.test(before);
	const isLong = before.replace(/\D/g, '').length >= WHOLE_NUMBER_DIGITS;
	const isShort = after.length <= USUAL_DECIMALS;
	if (/^0+$/.test(after)) {
		const isDecimal = isNumeral ? isShort || isLong : isShort && isLong;
		return isDecimal ? before : TWO_READINGS;
	}
	if (MANTISSA.test(text)) return DECIMALS;
	return (isNumeral || isLong) && (isShort || (isLong && after.length < WHOLE_NUMBER_DIGITS))
		? DECIMALS
		: text;
}

/** Zeros after the last of several points: after points of one kind a single zero, after both kinds any number of them. */
function mayBeDecimals(text: string): boolean {
	const [, before = '', point, zeros] = POINT_AND_ZEROS.exec(text) ?? [];
	return zeros === '0' ? /[.,]/.test(before) : before.includes(point === '.' ? ',' : '.');
}

/** Only where the zero is surely not dialled; elsewhere it stays a digit. */
function withoutBracketedZero(text: string): string {
	return text.replace(BRACKETED_ZERO, (shown: string, before: string) => {
		const isDialledFromAbroad = /^\W*(?:\+|00)/.test(before);
		const digits = before.replace(/\D/g, '').replace(/^00/, '');
		return isDialledFromAbroad && hasTrunkZero(digits) ? before : shown;
	});
}

/** Decimal digits of every script become 0–9. No other character becomes a digit. */
function toAscii(text: string): string {
	return text.replace(NOT_ASCII, (character) => {
		if (DECIMAL_DIGIT.test(character)) return digitValue(character);
		const plain = normalized(character, 'NFKC');
		return /\d/.test(plain) ? character : plain;
	});
}

/** Unicode keeps the digits of a script together, from 0 to 9, so a run of them has a multiple of ten. */
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
