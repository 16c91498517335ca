import { comparable } from './text';

/** What a formula without a result shows in Excel, Google Sheets, and LibreOffice, in English and some other languages. */
const ERROR_VALUES = new Set([
	...['#REF!', '#NAME?', '#N/A', '#VALUE!', '#DIV/0!', '#NUM!', '#NULL!', '#ERROR!'],
	...['#SPILL!', '#CALC!', '#FIELD!', '#BLOCKED!', '#BUSY!', '#CONNECT!', '#UNKNOWN!'],
	...['#EXTERNAL!', '#PYTHON!', '#GETTING_DATA', '#BEZUG!', '#WERT!', '#ZAHL!', '#NV'],
	...['#NOM?', '#VALEUR!', '#NOMBRE!', '#NUL!', '#RIF!', '#NOME?', '#VALORE!', '#VALOR!', '#N/D'],
	...['#¡REF!', '#¿NOMBRE?', '#¡VALOR!', '#¡DIV/0!', '#¡NUM!', '#¡NULO!'],
]);
/** Of LibreOffice, and of a number in a column that is too narrow for it. */
const OTHER_ERROR = /^(?:Err:5\d\d|#{3,})$/;

/** Null, as databases, programs, and models write it. Null with one capital is a name. */
export const NULLS: ReadonlySet<string> = new Set([
	...['NULL', '(NULL)', '<NULL>', '[NULL]', 'null', '(null)', '<null>', '[null]', '\\N'],
	...['undefined', 'Undefined', 'UNDEFINED'],
]);
/** Not Nan, which is a name. Google Sheets returns the last one for a formula, such as IMPORTRANGE, that isn't ready yet. */
const NO_VALUES = new Set([
	...[...NULLS, 'NaN', '-Infinity', 'N/A', 'n/a', 'N/a', '[object Object]'],
	...['Invalid Date', 'Invalid date', 'Invalid DateTime', 'Loading...'],
]);
/** Only alone: LI NA is a name, "na" a word of some languages, and Infinity a brand. Na, in this case, is a name also alone. */
const NO_VALUES_ALONE = new Set(['NA', 'na', 'N.A.', 'N.A', 'n.a.', 'n.a', 'Infinity']);
/**
 * Placeholders that nobody replaced: `{{ … }}`, `*|FNAME|*`, `%FIRSTNAME%`, `[[name]]`, and `${name}`. The others begin with
 * a letter, because `[[1]]`, `5%`, and the `%E0%A4` of a URL are values.
 */
export const PLACEHOLDER =
	/\{\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\}|\*\|[^*|]+\|\*|(?<!\w)%[a-z][\w.]*%(?!\w)|\[\[\s?[\p{L}_][^[\]]*\]\]|\$\{\s?[\p{L}_][^{}]*\}/giu;
/** In any case. Elsewhere, they can mean something. A formula that finds no name may return 0. */
const NO_NAMES = /^(?:unknown|not available|no name|none|\(blank\)|\(none\)|<nil>|0)$/i;
/** Only in this case, because Nil is a name. */
const NIL = /^(?:nil|NIL)$/;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** How these begin. Most cells begin in another way, which is faster to see. */
const BEGINNING = /^\s*(?:#|[([<]?null|\\N|undefined|N[A/.]|-?Inf|Err:|\[obj|Invalid|Loading)/i;
/** The same in a text of several words, most of which have none. */
const IN_WORDS = /(?:^|\s)(?:#|[([<]?null|\\N|undefined|N[A/]|-Inf|Err:|\[obj|Invalid|Loading)/i;

/** The number that Google Sheets adds to a row. Below a filter or an empty row, it's not that of the item. */
export function rowNumberIn(row: { readonly [column: string]: unknown }): number | undefined {
	return typeof row.row_number === 'number' ? row.row_number : undefined;
}

/** Whether a cell has an error value of a spreadsheet, such as `#REF!`. */
export function isErrorValue(cell: unknown): boolean {
	if (typeof cell !== 'string' || !BEGINNING.test(cell)) return false;
	const text = cell.trim();
	return ERROR_VALUES.has(text.toUpperCase()) || OTHER_ERROR.test(text);
}

/** Whether a cell has an error value, a word that says that it has no value, such as `NULL`, or a placeholder. */
export function hasNoValue(cell: unknown): boolean {
	if (typeof cell !== 'string') return false;
	const isWord = BEGINNING.test(cell) && (isNoValue(cell) || NO_VALUES_ALONE.has(cell.trim()));
	return isWord || cell.search(PLACEHOLDER) >= 0;
}

/** Whether a word of a text says that it has no value. */
export function isNoValue(word: string): boolean {
	return NO_VALUES.has(word.trim()) || isErrorValue(word);
}

/** The name of a person in a text, without what no agent should say, and the single quotes of a file. Empty if it has none. */
export function nameIn(text: string): string {
	const known = text.replace(PLACEHOLDER, '').trim();
	const trimmed = hasNoValue(known) ? '' : known.replace(/^'(.*)'$/s, '$1').trim();
	const words = IN_WORDS.test(trimmed) ? trimmed.split(/\s+/) : [];
	const name = words.some(isNoValue) ? words.filter((word) => !isNoValue(word)).join(' ') : trimmed;
	return NO_NAMES.test(name) || NIL.test(name) || !LETTER_OR_DIGIT.test(name) ? '' : name;
}

/** Usual headings of a column with the names of people. */
export const NAME_SYNONYMS = [
	'Name',
	'Full Name',
	'Contact Name',
	'Customer Name',
	'Lead Name',
	// Of a call record.
	'Caller Name',
] as const;

const MAX_NAME_LENGTH = 40;
/** Also the end of "Mobile No." */
const SEPARATORS = /[\s_-]+|[.:]$/g;
const NAME_KEYS = new Set(['person_name', ...NAME_SYNONYMS].map((name) => headingKey(name)));

/** The name of the person that a row is about, for messages. Empty if no usual column has one. */
export function personNameOf(row: object): string {
	const cells = Object.entries<unknown>({ ...row }).filter(([key]) =>
		NAME_KEYS.has(headingKey(key)),
	);
	const names = cells.map(([, cell]) => (typeof cell === 'string' ? nameIn(cell) : ''));
	return names.find((name) => name !== '' && name.length <= MAX_NAME_LENGTH) ?? '';
}

/** Equal for the spellings of a heading: in any case and spacing. */
export function headingKey(heading: string): string {
	return comparable(heading).replace(SEPARATORS, '');
}
