import { InvalidInput } from '../service/errors';
import { isUnset, quoted } from '../values/values';
import { phoneNumber } from './callPhone';
import { isAccepted, readCampaignPhone } from './campaignPhone';
import { callingCodeOf, hasTrunkZero, isDialedFromAbroad, leadingCode } from './countries';
import { INDIAN_CODE, isIndian, readIndian } from './india';
import { columnAdvice, digitsIn, isWritten, readWritten } from './written';

/** E.164 allows 15 digits. Shorter numbers than the minimum only work within a country. */
const MIN_KEY_DIGITS = 7;
const MAX_KEY_DIGITS = 15;

/**
 * `phone_key`: the digits of a number in international format without `+`. `null` if that isn't certain, such as for digits
 * that may or may not begin with a country code.
 *
 * @param country ISO 3166-1 alpha-2 of a number that may be written without its country code
 */
export function phoneKey(value: unknown, country?: string): string | null {
	const written = readWritten(value);
	if (!isWritten(written)) return null;
	const { digits, plus } = written;
	if (plus) return keyOf(digits);
	const code = country === undefined ? undefined : callingCodeOf(country);
	if (code === undefined) return null;
	if (code === INDIAN_CODE) {
		const number = readIndian(written);
		return isIndian(number) ? code + number.subscriber : null;
	}
	if (isDialedFromAbroad(digits, code)) return keyOf(digits.slice(2));
	// Elsewhere, a zero may be part of the number or of another prefix.
	const isUnclear = digits.startsWith(code) || (digits.startsWith('0') && !hasTrunkZero(code));
	return isUnclear ? null : keyOf(code + digits);
}

/** @param digits with the country code, and perhaps the zero that is only dialed within the country */
function keyOf(digits: string): string | null {
	const code = leadingCode(digits);
	if (code === undefined) return null;
	if (code === INDIAN_CODE) {
		const number = readIndian({ digits, plus: true });
		return isIndian(number) ? code + number.subscriber : null;
	}
	const after = digits.slice(code.length);
	const number = hasTrunkZero(code) ? after.replace(/^0/, '') : after;
	if (hasTrunkZero(code) && number.startsWith('0')) return null;
	const length = code.length + number.length;
	return length >= MIN_KEY_DIGITS && length <= MAX_KEY_DIGITS ? code + number : null;
}

/** Digits by which numbers are compared whose country code or prefixes may be missing. */
const COMPARED_DIGITS = 10;

/**
 * What is equal for the {@link phoneKey}s of numbers that may be the same: the code and the last ten digits. `391 234 5678` in
 * Italy may begin with the country's code (39) or not, and `8 912 345-67-89` in Russia with a prefix.
 */
export function looseKeyOf(international: string): string {
	const code = leadingCode(international);
	if (code === undefined || code === INDIAN_CODE) return international;
	return code + international.slice(-COMPARED_DIGITS);
}

/**
 * Equal for all numbers that may be the same, so that nobody is called twice: for duplicates, limits, and what n8n
 * remembers of calls and pushes. Two numbers with the same {@link phoneKey} also have the same loose one.
 *
 * @param country ISO 3166-1 alpha-2 of a number that may be written without its country code
 * @throws InvalidInput unless it can be a phone number
 */
export function loosePhoneKey(value: unknown, country: string | undefined): string {
	if (isUnset(value)) {
		throw new InvalidInput("'Phone' is empty", 'Enter the phone number.');
	}
	if (country !== undefined) {
		const sent = phoneNumber(value, country, 'Phone');
		const code = callingCodeOf(country);
		const key = phoneKey(value, country) ?? (code && code + sent);
		return key === undefined ? `${country} ${sent}` : looseKeyOf(key);
	}
	const pushed = readCampaignPhone(value);
	const key = phoneKey(value) ?? (isAccepted(pushed) ? pushed.phoneKey : null);
	if (key !== null) return looseKeyOf(key);
	throw new InvalidInput(
		`'Phone' ${quoted(value)} has no clear international format`,
		`Enter the number with + and its country code, or choose its 'Country'.${columnAdvice(value, 'Phone')}`,
	);
}

/**
 * The last ten digits, by which numbers are compared that may be written in any format. One that has fewer, without the zeros
 * before them, or the 8 that some countries dial instead, is compared with the end of another one.
 */
export function lastDigits(phone: string): string {
	return digitsIn(phone)
		.slice(-COMPARED_DIGITS)
		.replace(/^(?:0+|8(?=\d{7,8}$))/, '');
}
