/** A number in one of the two documented forms, and what makes it the same person's in either. */
export interface AcceptedPhone {
	readonly phone: string;
	readonly key: string;
}

export interface UnusablePhone {
	readonly reason: string;
}

export type PhoneReading = AcceptedPhone | UnusablePhone;

const MOBILE = /^[6-9]\d{9}$/;
const INTERNATIONAL = /^\+91\d{10}$/;
const PLAINLY_WRITTEN = /^[\d +()-]+$/;
const ACCEPTED_FORMS =
	'Accepted are 10-digit mobile numbers that start with 6 to 9, and +91 followed by 10 digits.';
const MISSING = 'The phone number is missing in this row.';
const FORMAT_AS_TEXT =
	'Format the phone column as text in the spreadsheet, enter the full numbers again and feed the sheet once more.';

/** Lead-form exports write `p:+91…`, links write `tel:+91…`, and `="…"` is a common way to keep Excel from rounding. */
const WRAPPING = /^(?:=?["']|(?:p|tel):)+|["']$/gi;
/** Spaces of every kind, invisible characters, dashes, brackets, quotes and separators carry no information. */
const DECORATION = /[\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212.,'"`]/gu;
const SCIENTIFIC = /^(\d+)(?:[.,](\d+))?e\+?(\d{1,2})$/i;
const DECIMAL = /^(\D*\d{10,})[.,](\d{1,6})$/;
const THOUSANDS = /^\d{1,3}(?:,\d{2,3})+(?:\.\d+)?$/;
/** Their code points end in 0–9 … */
const ARABIC_DIGIT = /[\u0660-\u0669\u06f0-\u06f9]/g;
/** … and these in 6–f: Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu, Kannada, Malayalam. */
const INDIC_DIGIT =
	/[\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d6f]/g;
const SHOWN_CHARACTERS = 40;
const TWO_NUMBERS = 20;
/** One missing digit is a final zero that was left unwritten; rounding for display drops many more. */
const UNWRITTEN_ZEROS = 1;

/** Reads a spreadsheet cell as a phone number: a documented form, or why it is none. */
export function readPhone(value: unknown): PhoneReading {
	if (typeof value === 'string') return readCell(value);
	if (value === undefined || value === null) return readCell('');
	if (typeof value === 'number') return readNumber(value);
	return {
		reason: `The phone column holds ${kindOf(value)} instead of a number or text. ${ACCEPTED_FORMS}`,
	};
}

export function isAccepted(reading: PhoneReading): reading is AcceptedPhone {
	return 'phone' in reading;
}

/** Leaves the cell as it stands; only the key of the person is still worked out where it can be. */
export function readPhoneAsWritten(value: unknown): PhoneReading {
	const phone = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
	const reading = readPhone(value);
	if (phone === '') return reading;
	return { phone, key: isAccepted(reading) ? reading.key : phone };
}

function readNumber(value: number): PhoneReading {
	if (Number.isSafeInteger(value) && value > 0) return readCell(String(value));
	return { reason: `${shown(String(value))} is not a whole phone number. ${ACCEPTED_FORMS}` };
}

/** Most cells need no more than this; a feed of 100,000 rows feels the difference. */
function readCell(cell: string): PhoneReading {
	if (MOBILE.test(cell)) return { phone: cell, key: cell };
	if (INTERNATIONAL.test(cell)) return { phone: cell, key: cell.slice(3) };
	if (PLAINLY_WRITTEN.test(cell)) return readDialled(cell, cell.replace(/[ ()-]/g, ''));
	return readText(cell);
}

function readText(cell: string): PhoneReading {
	const text = toAscii(cell).trim().replace(WRAPPING, '').trim();
	if (THOUSANDS.test(text)) return readText(text.replaceAll(',', ''));
	const scientific = SCIENTIFIC.exec(text.replace(/\s/g, ''));
	if (scientific) return readScientific(cell, scientific);

	const decimal = DECIMAL.exec(text);
	if (decimal && /[^0]/.test(decimal[2] ?? '')) {
		return { reason: `${shown(cell)} has decimals, which no phone number has. ${ACCEPTED_FORMS}` };
	}
	return readDialled(cell, (decimal?.[1] ?? text).replace(DECORATION, ''));
}

function readScientific(cell: string, [, whole = '', fraction = '', power = '']: string[]) {
	const exponent = Number(power);
	if (exponent - fraction.length > UNWRITTEN_ZEROS) return droppedDigits(cell);
	if (/[^0]/.test(fraction.slice(exponent))) {
		return { reason: `${shown(cell)} is not a whole phone number. ${ACCEPTED_FORMS}` };
	}
	return readDialled(cell, whole + fraction.slice(0, exponent).padEnd(exponent, '0'));
}

/** `dialled` has lost its decoration: what is left should be digits with at most one leading `+`. */
function readDialled(cell: string, dialled: string): PhoneReading {
	if (dialled === '') return { reason: MISSING };
	const digits = dialled.replace(/\D/g, '');
	if (digits.length >= TWO_NUMBERS) {
		return { reason: `${shown(cell)} holds more than one phone number. Keep one number per row.` };
	}
	if (!/^\+?\d+$/.test(dialled)) {
		return { reason: `${shown(cell)} is not a phone number. ${ACCEPTED_FORMS}` };
	}
	if (dialled.startsWith('+')) return readInternational(cell, digits);
	if (digits.startsWith('00')) return readInternational(cell, digits.slice(2));
	return readNational(cell, digits.startsWith('0') ? digits.slice(1) : digits);
}

function readInternational(cell: string, digits: string): PhoneReading {
	if (!digits.startsWith('91')) {
		return { reason: `${shown(cell)} is not a +91 number. ${ACCEPTED_FORMS}` };
	}
	// "+91 (0) 98765 43210" writes the trunk zero that is only dialled inside the country.
	const subscriber = digits.slice(2).replace(/^0(?=\d{10}$)/, '');
	if (subscriber.length !== 10) return wrongLength(cell, subscriber.length, ' after +91');
	return { phone: `+91${subscriber}`, key: subscriber };
}

function readNational(cell: string, digits: string): PhoneReading {
	if (MOBILE.test(digits)) return { phone: digits, key: digits };
	if (digits.startsWith('91') && digits.length >= 12) {
		// A 12-digit number that a spreadsheet showed as 9.19877E+11 comes back with these zeros.
		return digits.endsWith('000000') ? droppedDigits(cell) : readInternational(cell, digits);
	}
	if (digits.length !== 10) return wrongLength(cell, digits.length, '');
	return {
		reason: `${shown(cell)} starts with ${digits.charAt(0)}, but a 10-digit mobile number starts with 6 to 9. Write +91 in front if the number is right.`,
	};
}

function droppedDigits(cell: string): UnusablePhone {
	return {
		reason: `${shown(cell)} was shortened by a spreadsheet, which has dropped its last digits. ${FORMAT_AS_TEXT}`,
	};
}

function wrongLength(cell: string, found: number, where: string): UnusablePhone {
	const unit = found === 1 ? 'digit' : 'digits';
	return { reason: `${shown(cell)} has ${found} ${unit}${where} instead of 10. ${ACCEPTED_FORMS}` };
}

/** Full-width digits and those of the scripts read in India become 0–9. */
function toAscii(text: string): string {
	if (!/[^\x20-\x7e]/.test(text)) return text;
	return text
		.normalize('NFKC')
		.replace(ARABIC_DIGIT, (digit) => String(digit.charCodeAt(0) & 0xf))
		.replace(INDIC_DIGIT, (digit) => String((digit.charCodeAt(0) & 0xf) - 6));
}

function kindOf(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function shown(cell: string): string {
	const text = cell.trim();
	return text.length > SHOWN_CHARACTERS ? `"${text.slice(0, SHOWN_CHARACTERS)}…"` : `"${text}"`;
}
