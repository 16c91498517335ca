import compact from 'lodash/compact';
import { enter } from '../service/modelFormats';
import { InvalidInput } from '../service/errors';
import { isUnset, named, quoted } from '../values/values';
import { callingCodeOf, countryName, KEEPS_ZERO, leadingCode } from './countries';
import { INDIA, INDIAN_CODE, readIndian } from './india';
import { otherCountryBeside } from './countryBeside';
import { COMPARED_DIGITS, readWritten, type Unreadable, type Written } from './written';

type Field = 'Phone Number' | 'Phone';

/**
 * `phone_number` of a call: "Digits only, without country code". Reads Indian numbers in all common formats. The document
 * has no rules for other countries, so there only an explicit country code (`+44 …`, `0044 …`) is removed, and all other
 * digits are sent unchanged for the service to check.
 *
 * @param country ISO 3166-1 alpha-2
 * @param field its label
 * @param columns of the row from which it may come, for the message if it's empty
 * @throws InvalidInput unless it can be a phone number
 */
export function phoneNumber(
	value: unknown,
	country: string,
	field: Field = 'Phone Number',
	columns: readonly string[] = [],
): string {
	if (isUnset(value)) throw emptyNumber(field, columns);
	const unusable = ({ issue, resolution = enter(field) }: Unreadable) =>
		new InvalidInput(`'${field}' ${quoted(value)} ${issue}`, resolution);
	const written = readWritten(value);
	if ('issue' in written) throw unusable(written);
	const code = callingCodeOf(country) ?? '';
	const national = nationalDigits(written, code);
	// With the code of another country, it would reach a stranger.
	if (national === undefined) {
		throw unusable({
			issue: `has another country code, but 'Country' is ${countryName(country)} (+${code})`,
			resolution: "Choose the country of the number in 'Country', or correct the number.",
		});
	}
	if (country !== INDIA) {
		if (national === '') throw unusable({ issue: `has no digits after +${code}` });
		return national;
	}
	const number = readIndian(written);
	if ('issue' in number) throw unusable(number);
	return number.subscriber;
}

/** The digits without this country code. Undefined if they have another one. */
function nationalDigits({ digits, plus }: Written, code: string): string | undefined {
	const prefix = plus ? code : `00${code}`;
	if (digits.startsWith(prefix)) return digits.slice(prefix.length);
	return plus ? undefined : digits;
}

function emptyNumber(field: Field, columns: readonly string[]): InvalidInput {
	const listed = columns.length > 0 && `The item has: ${named(columns, quoted)}.`;
	const advice = "In n8n, if it's an expression, check the name of its column.";
	return new InvalidInput(`'${field}' is empty`, compact([enter(field), advice, listed]).join(' '));
}

/** @throws InvalidInput if a column of the row says another country, because a stranger might be called */
export function requireCountry(row: object, number: unknown, country: string): void {
	const other = otherCountryBeside(row, number, country);
	if (other === undefined) return;
	throw new InvalidInput(
		`${other}, but 'Country' is ${countryName(country)}`,
		"Write the number with + and its country code, or give its country in 'Country'.",
	);
}

/**
 * `phone_key`: the country code and the digits of a number, without a zero that is only dialed within the country. `null` if
 * the country code isn't certain.
 *
 * @param country ISO 3166-1 alpha-2 of a number that may be written without its country code
 */
export function phoneKey(value: unknown, country = ''): string | null {
	const written = readWritten(value);
	if ('issue' in written) return null;
	const code = written.plus ? leadingCode(written.digits) : callingCodeOf(country);
	if (code === undefined) return null;
	if (code === INDIAN_CODE) {
		const number = readIndian(written);
		return 'issue' in number ? null : code + number.subscriber;
	}
	const national = nationalDigits(written, code) ?? '';
	// Without +, it may have the country's code, or that of another country.
	if (!written.plus && (national.startsWith(code) || national.startsWith('00'))) return null;
	return code + (KEEPS_ZERO.has(code) ? national : national.replace(/^0/, ''));
}

/**
 * What is equal for the {@link phoneKey}s of numbers that may be the same: the code and the last ten digits. `391 234 5678` in
 * Italy may begin with the country's code (39) or not, and `8 912 345-67-89` in Russia with a prefix.
 */
export function looseKeyOf(key: string): string {
	const code = leadingCode(key);
	if (code === undefined || code === INDIAN_CODE) return key;
	return code + key.slice(-COMPARED_DIGITS);
}

/**
 * Equal for all numbers that may be the same, so that nobody is called twice: for duplicates, limits, and what n8n
 * remembers of calls and pushes. Two numbers with the same {@link phoneKey} also have the same loose one.
 *
 * @param country ISO 3166-1 alpha-2 of a number that may be written without its country code
 * @throws InvalidInput unless it can be a phone number
 */
export function loosePhoneKey(value: unknown, country = INDIA): string {
	const key = phoneKey(value, country);
	return looseKeyOf(key ?? `${callingCodeOf(country)}${phoneNumber(value, country, 'Phone')}`);
}
