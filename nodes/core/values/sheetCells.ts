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

/** Words of databases, programs, and spreadsheets. Not those that are names of people, such as Null and Nan. */
const NO_VALUES = new Set([
	...['NULL', '(NULL)', '<NULL>', '[NULL]', 'null', '(null)', '<null>', '[null]', '\\N'],
	...['undefined', 'Undefined', 'UNDEFINED', 'NaN', '[object Object]', 'Invalid Date'],
	// Google Sheets returns it for a cell whose formula, such as IMPORTRANGE, isn't ready yet.
	'Loading...',
]);
/** In any case. Elsewhere, they can mean something. A formula that finds no name may return 0. */
const NO_NAMES = new Set([
	...['n/a', 'n.a.', 'n.a', 'unknown', 'not available', 'no name'],
	...['(blank)', '(none)', '<nil>', '0'],
]);
/** Only in this case, because Nil and Na are names. */
const NO_NAMES_AS_WRITTEN = new Set(['NA', 'none', 'None', 'NONE', 'nil', 'NIL']);
const MAX_NO_NAME = Math.max(...[...NO_NAMES, ...NO_NAMES_AS_WRITTEN].map(({ length }) => length));
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** How these begin. Most cells begin in another way, which is faster to see. */
const BEGINNING = /^\s*(?:#|[([<]?null|\\N|undefined|NaN|Err:|\[object|Invalid|Loading)/i;
/** The same in a text of several words, most of which have none. */
const IN_WORDS = /(?:^|\s)(?:#|[([<]?null|\\N|undefined|NaN|Err:|\[object|Invalid|Loading)/i;

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

/** Whether a cell has an error value or a word that says that it has no value, such as `NULL`. */
export function hasNoValue(cell: unknown): boolean {
	if (typeof cell !== 'string' || !BEGINNING.test(cell)) return false;
	return NO_VALUES.has(cell.trim()) || isErrorValue(cell);
}

/** The name of a person in a text, without words that no agent should say. Empty if it has none. */
export function nameIn(text: string): string {
	const trimmed = hasNoValue(text) ? '' : text.trim();
	const words = IN_WORDS.test(trimmed) ? trimmed.split(/\s+/) : [];
	const name = words.some(hasNoValue)
		? words.filter((word) => !hasNoValue(word)).join(' ')
		: trimmed;
	return isNoName(name) || !LETTER_OR_DIGIT.test(name) ? '' : name;
}

function isNoName(name: string): boolean {
	if (name.length > MAX_NO_NAME) return false;
	return NO_NAMES.has(name.toLowerCase()) || NO_NAMES_AS_WRITTEN.has(name);
}

/** Usual headings of a column with the names of people. */
export const NAME_SYNONYMS = [
	'Name',
	'Full Name',
	'Contact Name',
	'Customer Name',
	'Lead Name',
] as const;

const MAX_NAME_LENGTH = 40;
const SEPARATORS = /[\s_-]+/g;
const NAME_KEYS = new Set(
	['person_name', 'caller_name', ...NAME_SYNONYMS].map((name) => keyOf(name)),
);

/** The name of the person that a row is about, for messages. Empty if no usual column has one. */
export function personNameOf(row: object): string {
	const cells = Object.entries<unknown>({ ...row }).filter(([key]) => NAME_KEYS.has(keyOf(key)));
	const names = cells.map(([, cell]) => (typeof cell === 'string' ? nameIn(cell) : ''));
	return names.find((name) => name !== '' && name.length <= MAX_NAME_LENGTH) ?? '';
}

function keyOf(heading: string): string {
	return heading.toLowerCase().replace(SEPARATORS, '');
}
