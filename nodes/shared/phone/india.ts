import { SHORTENED, type Unreadable, type Written } from './written';

/** Ten digits of a number of India; `international` where +91, 0091 or 91 stood in front. */
export type IndianNumber = { subscriber: string; international: boolean };

const CODE = '91';
const SUBSCRIBER_DIGITS = 10;
const MOBILE = /^[6-9]\d{9}$/;

export function isMobile(subscriber: string): boolean {
	return MOBILE.test(subscriber);
}

export function isIndian(reading: IndianNumber | Unreadable): reading is IndianNumber {
	return 'subscriber' in reading;
}

/** Every way in which a number of India is written, or why this is none. */
export function readIndian({ digits, plus }: Written): IndianNumber | Unreadable {
	if (plus) return withCode(digits);
	// Nothing in India's numbering plan begins with two zeros.
	if (digits.startsWith('00')) return withCode(digits.slice(2));
	const national = digits.startsWith('0') ? digits.slice(1) : digits;
	if (national.length === SUBSCRIBER_DIGITS) return { subscriber: national, international: false };
	if (national.startsWith(CODE) && national.length >= CODE.length + SUBSCRIBER_DIGITS) {
		// A 12-digit number that a spreadsheet showed as 9.19877E+11 comes back with these zeros.
		return national.endsWith('000000') ? SHORTENED : withCode(national);
	}
	return wrongLength(national.length, '');
}

function withCode(digits: string): IndianNumber | Unreadable {
	if (!digits.startsWith(CODE)) return { what: 'is not a +91 number' };
	// "+91 098765 43210" writes the trunk zero that is only dialled inside the country.
	const subscriber = digits.slice(CODE.length).replace(/^0(?=\d{10}$)/, '');
	if (subscriber.length !== SUBSCRIBER_DIGITS) return wrongLength(subscriber.length, ' after +91');
	return { subscriber, international: true };
}

function wrongLength(found: number, where: string): Unreadable {
	return {
		what: `has ${found} ${found === 1 ? 'digit' : 'digits'}${where} instead of ${SUBSCRIBER_DIGITS}`,
	};
}
