import { isUnset } from '../values';
import { callingCodeOf, hasTrunkZero, isDialledFromAbroad, leadingCode } from './callingCodes';
import { isIndian, readIndian } from './india';
import { isWritten, readWritten, type Written } from './written';

const INDIAN_CODE = '91';
const ITALIAN_CODE = '39';
/** Codes whose numbers all have ten digits, with the digit that some put in front at home. */
const TEN_DIGITS = new Map([
	['1', '1'],
	['7', '8'],
]);
/** What is dialled in front of a number at home where that is no zero: Hungary, Lithuania, Belarus, Turkmenistan. */
const TRUNK_PREFIX = new Map([
	['36', '06'],
	['370', '8'],
	['375', '8'],
	['993', '8'],
]);
/** E.164 allows 15; shorter than this are numbers that only work at home. */
const SHORTEST_KEY = 7;
const LONGEST_KEY = 15;

/**
 * `phone_key`: the digits of a number in international form without `+`, so that one person's number is the same text
 * wherever it is read. `null` where that is not certain, as for digits that may begin with a country code or not.
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
	return isDialledFromAbroad(digits, code)
		? keyOfInternational(digits.slice(2))
		: keyOfNational(digits, code);
}

function keyOfIndian(written: Written): string | null {
	const number = readIndian(written);
	return isIndian(number) ? `${INDIAN_CODE}${number.subscriber}` : null;
}

/** Of digits that surely begin with a country code. */
function keyOfInternational(digits: string): string | null {
	if (digits.startsWith(INDIAN_CODE)) return keyOfIndian({ digits, plus: true });
	const code = leadingCode(digits);
	if (code === undefined) return null;
	const rest = digits.slice(code.length);
	if (TEN_DIGITS.has(code) && rest.length !== 10) return null;
	return withCountryCode(code, rest);
}

/** Of digits as they are written at home; those that begin like the country's own code may hold it. */
function keyOfNational(digits: string, code: string): string | null {
	const inFront = TEN_DIGITS.get(code);
	if (inFront !== undefined) {
		const subscriber =
			digits.length === 11 && digits.startsWith(inFront) ? digits.slice(1) : digits;
		return subscriber.length === 10 ? `${code}${subscriber}` : null;
	}
	if (digits.startsWith(code) || digits.startsWith(TRUNK_PREFIX.get(code) ?? code)) return null;
	// Where no zero is dialled in front it may be a digit of the number, or part of another prefix.
	if (digits.startsWith('0') && !hasTrunkZero(code) && code !== ITALIAN_CODE) return null;
	return withCountryCode(code, digits);
}

/** The zero that is only dialled at home is no digit of the number. */
function withCountryCode(code: string, written: string): string | null {
	const subscriber = hasTrunkZero(code) ? written.replace(/^0/, '') : written;
	if (hasTrunkZero(code) && subscriber.startsWith('0')) return null;
	const length = code.length + subscriber.length;
	return length >= SHORTEST_KEY && length <= LONGEST_KEY ? `${code}${subscriber}` : null;
}
