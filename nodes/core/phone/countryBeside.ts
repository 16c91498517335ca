import { isJsonObject } from '../values/json';
import { plainText, quoted } from '../values/values';
import { callingCodeOf, findCountry, leadingCode } from './countries';
import { readWritten } from './written';

/** Most headings have none of these, which is faster to see. */
const WORD = /country|isd|dial|calling/i;
/** As sheets and CRMs write them, without separators. Not "Preferred Country", which is about something else. */
const HEADING =
	/^(?:phone|mobile|contact|whatsapp|customer|lead|mailing|billing)?(?:number)?(?:(?:iso)?country(?:region|name|iso|isd|dial|diall?ing|calling|phone)?(?:code)?|isd|(?:isd|dial|diall?ing|calling)code)(?:phone|mobile|number)?$/;
/** Such as `+1`, `001`, `1`, `1.0`, `+1-868`, and `USA (+1)`. */
const CALLING_CODE = /\+(\d+)|^0*(\d{1,3})(?:\.0)?$/;

/**
 * Which column of the row, or of an object in it with the number, says another country. What isn't certainly a country, such as
 * "South", doesn't count, nor does any column beside a number that is written with its code.
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
	if ('digits' in written && (written.plus || written.digits.startsWith('00'))) return undefined;
	const objects = Object.values<unknown>({ ...row }).filter(isJsonObject);
	const withNumber = objects.filter((one) => Object.values<unknown>(one).includes(number));
	const cells = [row, ...withNumber].flatMap((one) => Object.entries<unknown>({ ...one }));
	const own = callingCodeOf(country);
	const other = cells.find(
		([column, cell]) => isCountryHeading(column) && (codeIn(cell) ?? own) !== own,
	);
	return other && `The column ${quoted(other[0])} says ${quoted(plainText(other[1]).trim())}`;
}

function isCountryHeading(column: string): boolean {
	return WORD.test(column) && HEADING.test(column.toLowerCase().replace(/[^a-z\d]/g, ''));
}

/** The calling code that a cell says. */
function codeIn(cell: unknown): string | undefined {
	const text = plainText(cell).trim();
	const [, afterPlus = '', alone = ''] = CALLING_CODE.exec(text) ?? [];
	const code = leadingCode(afterPlus + alone);
	const isCode = code !== undefined && (alone === '' || alone === code);
	return isCode ? code : callingCodeOf(findCountry(text) ?? '');
}
