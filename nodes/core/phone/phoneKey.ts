import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import { forEveryone } from '../service/resolution';
import { InvalidInput } from '../service/errors';
import { isUnset, quoted } from '../values/values';
import { phoneNumber } from './callPhone';
import { isAccepted, readCampaignPhone } from './campaignPhone';
import { callingCodeOf, hasTrunkZero, isDialedFromAbroad, leadingCode } from './countries';
import { INDIAN_CODE, isIndian, readIndian } from './india';
import { columnAdvice, isWritten, readWritten, type Written } from './written';

const ITALIAN_CODE = '39';
/** Codes with ten-digit numbers, and the digit that may be dialed before them within the country. */
const TEN_DIGITS = new Map([
	['1', '1'],
	['7', '8'],
]);
const ARGENTINE_CODE = '54';
/** Argentina: before mobile numbers, also from abroad. */
const MOBILE_PREFIX = new Map([[ARGENTINE_CODE, '9']]);
/**
 * Within Argentina, 15 follows the area code instead. Without it, a number has ten digits. Sheets have both, as in
 * `54 9 11 15 …`.
 */
const ARGENTINE_MOBILE = /^(?:54)?9?0?(?=\d{12}$)(11|[23]\d{2,3})15/;
/**
 * Prefixes within the country, beside the zeros that no number begins with: Hungary, Mexico (of which 1 was once dialed from
 * abroad, too), Argentina (before a mobile number without its area code), Rwanda (a zero that a number may begin with),
 * Lithuania, Belarus, Turkmenistan.
 */
const TRUNK_PREFIXES = new Map([
	['36', ['06']],
	['52', ['1', '01', '044', '045']],
	[ARGENTINE_CODE, ['15']],
	['250', ['0']],
	['370', ['8']],
	['375', ['8']],
	['993', ['8']],
]);
/**
 * Of a number of any country: zeros, the 8 of Russia and others, the prefixes of ten digits in Mexico and Argentina, and
 * Argentina's 15 without an area code.
 */
const NATIONAL_PREFIX =
	/^(?:0+|80*)?(?:(?:(?:52)?0?(?:1|44|45)|(?:54)?9|5[24])(?=\d{10}$)|15(?=\d{6,8}$))?/;
/** E.164 allows 15 digits. Shorter numbers than the minimum only work within a country. */
const MIN_KEY_DIGITS = 7;
const MAX_KEY_DIGITS = 15;

/**
 * `phone_key`: the digits of a number in international format without `+`, equal wherever the number is read. `null` if
 * that isn't certain, such as for digits that may or may not begin with a country code.
 *
 * @param country ISO 3166-1 alpha-2 of a number that may be written without its country code
 */
export function phoneKey(value: unknown, country?: string): string | null {
	if (isUnset(value)) return null;
	const written = readWritten(value);
	if (!isWritten(written)) return null;
	const code = country === undefined ? undefined : callingCodeOf(country);
	const { digits, plus } = written;
	if (plus) return keyOfInternational(digits);
	if (code === undefined) return null;
	if (code === INDIAN_CODE) return keyOfIndian(written);
	return isDialedFromAbroad(digits, code)
		? keyOfInternational(digits.slice(2))
		: keyOfNational(digits, code);
}

function keyOfIndian(written: Written): string | null {
	const number = readIndian(written);
	return isIndian(number) ? `${INDIAN_CODE}${number.subscriber}` : null;
}

/** For digits that certainly begin with a country code. */
function keyOfInternational(digits: string): string | null {
	if (digits.startsWith(INDIAN_CODE)) return keyOfIndian({ digits, plus: true });
	const code = leadingCode(digits);
	if (code === undefined) return null;
	const rest = digits.slice(code.length);
	if (TEN_DIGITS.has(code) && rest.length !== 10) return null;
	return withCountryCode(code, rest);
}

/** For digits in national format. If they begin like the country's code, they may include it. */
function keyOfNational(digits: string, code: string): string | null {
	const prefix = TEN_DIGITS.get(code);
	if (prefix !== undefined) {
		const isPrefixed = digits.startsWith(prefix) || digits.startsWith(code);
		const subscriber = digits.length === 11 && isPrefixed ? digits.slice(1) : digits;
		return subscriber.length === 10 ? `${code}${subscriber}` : null;
	}
	if (nationalPrefixesOf(code).some((one) => digits.startsWith(one))) return null;
	// Without a trunk zero, a leading zero may be part of the number or of another prefix.
	if (digits.startsWith('0') && !hasTrunkZero(code) && code !== ITALIAN_CODE) return null;
	return withCountryCode(code, digits);
}

/** What digits in national format may begin with, besides the number: the code itself, too. */
function nationalPrefixesOf(code: string): string[] {
	return [code, ...(TRUNK_PREFIXES.get(code) ?? [])];
}

/** Removes what is only dialed within the country. */
function withCountryCode(code: string, written: string): string | null {
	const dialed = hasTrunkZero(code) ? written.replace(/^0/, '') : written;
	const subscriber = code === ARGENTINE_CODE ? dialed.replace(ARGENTINE_MOBILE, '9$1') : dialed;
	if (hasTrunkZero(code) && subscriber.startsWith('0')) return null;
	const length = code.length + subscriber.length;
	return length >= MIN_KEY_DIGITS && length <= MAX_KEY_DIGITS ? `${code}${subscriber}` : null;
}

/** What all formats of a number that is written without `+` may end with: two endings, if it may be Argentine. */
export function nationalEndings(digits: string): string[] {
	const ending = withoutCodeAndZero(digits).replace(NATIONAL_PREFIX, '');
	return uniq([ending, ending.replace(ARGENTINE_MOBILE, '$1')]);
}

/** As of `44 (0) 20 7946 0958`. With ten digits or fewer, the code may be an area code, as in the United States. */
function withoutCodeAndZero(digits: string): string {
	const code = digits.length > 10 ? leadingCode(digits) : undefined;
	const isZeroNext = code !== undefined && hasTrunkZero(code) && digits[code.length] === '0';
	return isZeroNext ? digits.slice(code.length + 1) : digits;
}

/**
 * What is equal for the {@link phoneKey}s of numbers that may be the same.
 *
 * `391 234 5678` in Italy may begin with the country's code (39) or not, and `8 612 34567` in Lithuania with a prefix. So all
 * codes and prefixes before the number itself are removed.
 */
export function withoutPrefixes(international: string): string {
	const code = leadingCode(international);
	if (code === undefined || code === INDIAN_CODE || TEN_DIGITS.has(code)) return international;
	const written = international.slice(code.length);
	const number = code === ARGENTINE_CODE ? written.replace(ARGENTINE_MOBILE, '$1') : written;
	const zero = hasTrunkZero(code) && '0';
	const prefixes = compact([...nationalPrefixesOf(code), zero, MOBILE_PREFIX.get(code)]);
	const prefix = prefixes.find((one) => number.startsWith(one) && number !== one);
	if (prefix === undefined) return `${code}${number}`;
	return withoutPrefixes(`${code}${number.slice(prefix.length)}`);
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
		throw new InvalidInput("'Phone' is empty", forEveryone('Enter the phone number to forget.'));
	}
	if (country !== undefined) {
		const sent = phoneNumber(value, country, 'Phone');
		const code = callingCodeOf(country);
		const key = phoneKey(value, country) ?? (code && `${code}${sent}`);
		return key === undefined ? `${country} ${sent}` : withoutPrefixes(key);
	}
	const pushed = readCampaignPhone(value);
	const key = phoneKey(value) ?? (isAccepted(pushed) ? pushed.phoneKey : null);
	if (key !== null) return withoutPrefixes(key);
	throw new InvalidInput(
		`'Phone' ${quoted(value)} has no clear international format`,
		forEveryone(
			`Enter the number with + and its country code, or choose its 'Country'.${columnAdvice(value, 'Phone')}`,
		),
	);
}
