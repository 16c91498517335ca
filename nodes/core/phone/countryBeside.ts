import { isJsonObject } from '../values/json';
import { withLatinDigits } from '../values/text';
import { plainText, quoted } from '../values/values';
import { callingCodeOf, findCountry, leadingCode } from './countries';
import { isWritten, readWritten } from './written';

/** Most headings have none of these, which is faster to see. */
const WORD = /country|isd|code|prefix/i;
/** As sheets and CRMs write them, without separators. Not "Preferred Country", which is about something else. */
const HEADING =
	/^(?:phone|mobile|contact|whatsapp|customer|lead|mailing|billing)?(?:number)?(?:(?:iso)?country(?:region)?(?:name|iso|isd|dial|diall?ing|calling|phone)?(?:code|prefix|[23])?|isd|(?:isd|dial|diall?ing|calling|international|intl)code)(?:phone|mobile|number)?$|^(?:phone|mobile)(?:code|prefix)$/;
/** Such as `+1`, `001`, `1`, `1.0`, `+1-868`, and `USA (+1)`. */
const DIALED = /^(\D*)(\d{1,4})(?:[ -]\d{3,4})?(?:\.0+)?(\D*)$/;

/**
 * Which column of the row, or of an object in it with the number, says another country. A calling code is about the number,
 * so beside one, names don't count. Nor does a value that isn't certainly a country, such as "South", or any column beside a
 * number that is written with its code.
 *
 * @param country ISO 3166-1 alpha-2, as which the number would be read
 * @returns the beginning of a sentence
 */
export function otherCountryBeside(
	row: object,
	number: unknown,
	country: string,
): string | undefined {
	const written = readWritten(number);
	if (isWritten(written) && (written.plus || written.digits.startsWith('00'))) return undefined;
	const objects = Object.values<unknown>({ ...row }).filter(isJsonObject);
	const withNumber = objects.filter((one) => Object.values<unknown>(one).includes(number));
	const cells = [row, ...withNumber].flatMap((one) => Object.entries<unknown>({ ...one }));
	const said = cells.filter(([column]) => isCountryHeading(column)).map(readCountry);
	const dialed = said.filter(({ isDialed }) => isDialed);
	const other = (dialed.length > 0 ? dialed : said).find(
		({ code }) => code !== undefined && code !== callingCodeOf(country),
	);
	return other && `The column ${quoted(other.column)} says ${quoted(other.text)}`;
}

function isCountryHeading(column: string): boolean {
	return WORD.test(column) && HEADING.test(column.toLowerCase().replace(/[^a-z\d]/g, ''));
}

function readCountry([column, cell]: [string, unknown]) {
	const text = plainText(cell).trim();
	const [, before = '', written = '', after = ''] = DIALED.exec(withLatinDigits(text)) ?? [];
	const digits = written.replace(/^0+/, '');
	const isWhole = before.includes('+') || written.startsWith('00');
	const isAlone = leadingCode(digits) === digits && !/\p{L}/u.test(before + after);
	const dialed = isWhole || isAlone ? leadingCode(digits) : undefined;
	const code = dialed ?? callingCodeOf(findCountry(text) ?? '');
	return { column, text, code, isDialed: dialed !== undefined };
}
