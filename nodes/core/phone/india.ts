import type { Unreadable, Written } from './written';

/** The ten digits of an Indian number. `international`: it was written with +91, 0091, or 91. */
type IndianNumber = { subscriber: string; international: boolean };

export const INDIA = 'IN';
export const INDIAN_CODE = '91';
const SUBSCRIBER_DIGITS = 10;
const MOBILE = /^[6-9]\d{9}$/;
/** Toll-free numbers with eleven digits. */
export const TOLL_FREE = /^18[06]0\d{7}$/;

export function isMobile(subscriber: string): boolean {
	return MOBILE.test(subscriber);
}

export function isIndian(reading: IndianNumber | Unreadable): reading is IndianNumber {
	return 'subscriber' in reading;
}

/** Reads an Indian number in any format. */
export function readIndian({ digits, plus }: Written): IndianNumber | Unreadable {
	if (plus) return withCode(digits);
	// No Indian number begins with two zeros.
	if (digits.startsWith('00')) return withCode(digits.slice(2));
	const national = digits.startsWith('0') ? digits.slice(1) : digits;
	if (national.length === SUBSCRIBER_DIGITS) return { subscriber: national, international: false };
	const hasCode = national.startsWith(INDIAN_CODE);
	if (hasCode && national.length >= INDIAN_CODE.length + SUBSCRIBER_DIGITS)
		return withCode(national);
	// Its zero is only dialed within the country.
	if (digits.length === SUBSCRIBER_DIGITS) return wrongLength(national.length, ' after its 0');
	return wrongLength(digits.length, '');
}

function withCode(digits: string): IndianNumber | Unreadable {
	if (!digits.startsWith(INDIAN_CODE)) return { issue: "isn't a +91 number" };
	// "+91 098765 43210" has a zero that is only dialed within the country.
	const subscriber = digits.slice(INDIAN_CODE.length).replace(/^0(?=\d{10}$)/, '');
	if (subscriber.length !== SUBSCRIBER_DIGITS) return wrongLength(subscriber.length, ' after +91');
	return { subscriber, international: true };
}

function wrongLength(found: number, where: string): Unreadable {
	return {
		issue: `has ${found} ${found === 1 ? 'digit' : 'digits'}${where} instead of ${SUBSCRIBER_DIGITS}`,
		resolution: 'Enter the ten digits of the number, with or without +91.',
	};
}
