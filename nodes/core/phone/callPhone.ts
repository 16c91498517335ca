import compact from 'lodash/compact';
import { enter } from '../service/modelFormats';
import { InvalidInput } from '../service/errors';
import { isUnset, named, quoted } from '../values/values';
import { callingCodeOf, countryName, isDialedFromAbroad } from './countries';
import { INDIA, isIndian, readIndian, TOLL_FREE } from './india';
import { otherCountryBeside } from './countryBeside';
import { columnAdvice, isWritten, readWritten, type Unreadable, type Written } from './written';

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
	const given = { value, field };
	const written = readWritten(value);
	if (!isWritten(written)) throw unusable(given, written);
	return country === INDIA ? ofIndia(given, written) : ofCountry(given, written, country);
}

type Field = 'Phone Number' | 'Phone';
type Given = { value: unknown; field: Field };

function emptyNumber(field: Field, columns: readonly string[]): InvalidInput {
	const listed = columns.length > 0 && `The item has: ${named(columns, quoted)}.`;
	const advice = "In n8n, if it's an expression, check the name of its column.";
	return new InvalidInput(`'${field}' is empty`, compact([enter(field), advice, listed]).join(' '));
}

function ofIndia(given: Given, written: Written): string {
	const number = readIndian(written);
	if (isIndian(number)) return number.subscriber;
	const { plus, digits } = written;
	const national = digits.replace(/^0/, '');
	if (!plus && TOLL_FREE.test(national)) return national;
	const international = plus ? digits : digits.replace(/^00/, '');
	const isOther = (plus || digits.startsWith('00')) && !international.startsWith('91');
	if (isOther) throw anotherCountry(given, INDIA);
	throw unusable(given, number);
}

function ofCountry(given: Given, { digits, plus }: Written, country: string): string {
	const code = callingCodeOf(country);
	if (code !== undefined && plus && digits.startsWith(code)) {
		const national = digits.slice(code.length);
		if (national === '') throw unusable(given, { issue: `has no digits after +${code}` });
		return national;
	}
	if (plus) throw anotherCountry(given, country);
	const dialedFromAbroad = code !== undefined && isDialedFromAbroad(digits, code);
	return dialedFromAbroad ? digits.slice(2 + code.length) : digits;
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

/** A number that is called with the code of another country would reach a stranger. */
function anotherCountry({ value, field }: Given, country: string): InvalidInput {
	const code = callingCodeOf(country);
	const chosen = `${countryName(country)}${code === undefined ? '' : ` (+${code})`}`;
	return new InvalidInput(
		`'${field}' ${quoted(value)} has another country code, but 'Country' is ${chosen}`,
		"Choose the country of the number in 'Country', or correct the number.",
	);
}

function unusable(
	{ value, field }: Given,
	{ issue, resolution = enter(field) }: Unreadable,
): InvalidInput {
	return new InvalidInput(
		`'${field}' ${quoted(value)} ${issue}`,
		resolution + columnAdvice(value, field),
	);
}
