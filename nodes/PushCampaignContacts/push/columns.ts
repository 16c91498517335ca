import get from 'lodash/get';
import has from 'lodash/has';
import partition from 'lodash/partition';
import toPath from 'lodash/toPath';
import { ERROR_FIELDS, InvalidInput } from '../../core/service/errors';
import type { Explanation } from '../../core/service/explanation';
import { isCampaignPhone } from '../../core/phone/india';
import { isBlank } from '../../core/phone/written';
import { NAME_SYNONYMS } from '../../core/values/sheetCells';
import { normalized, withoutEnd, withoutInvisible } from '../../core/values/text';
import { joinedWithAnd, named, plainText, quoted } from '../../core/values/values';
import type { ContactRow, Table } from './rows';

export const DEFAULT_PHONE_COLUMN = 'phone';
export const DEFAULT_NAME_COLUMN = 'person_name';

/** Used if the default column is missing, in any case and spacing. */
export const PHONE_SYNONYMS = [
	'Phone Number',
	'Phone No',
	'Mobile',
	'Mobile Number',
	'Mobile No',
	'Contact Number',
] as const;

/** As Get Call and the triggers name it. */
const CALL_RECORD_NAME = 'Caller Name';

/** Columns that the outputs add. They aren't sent if a row is pushed again. */
export const ADDED_COLUMNS = [
	'push_status',
	'rejection_reason',
	'phone_key',
	'campaign_upload_id',
] as const;

/** A column, or a value nested in one: `properties.phone`. */
export type Column = {
	name: string;
	/** The path of a nested value. */
	path?: readonly string[];
};

/** Undefined if the row doesn't have the column. */
export function cellOf(row: ContactRow, { name, path }: Column): unknown {
	if (path === undefined) return Object.hasOwn(row, name) ? row[name] : undefined;
	return has(row, path) ? get(row, path) : undefined;
}

/** The column fields of the form. An empty person name column sends no names. */
export type ColumnChoice = {
	phone: string;
	personName: string;
	others: 'all' | readonly string[];
};

/** A column and the name of its prompt variable. */
type Variable = { name: string; column: Column };

/** The columns of the rows. */
export type Columns = {
	phone: Column;
	personName: Column | undefined;
	others: 'all' | readonly Variable[];
	/** Not sent without *Columns to Send*: those with another meaning, and those that nodes add. */
	notOfAll: ReadonlySet<string>;
};

/** Documented fields, columns that this node adds, and columns without a heading. */
const NEVER_VARIABLES = [DEFAULT_PHONE_COLUMN, DEFAULT_NAME_COLUMN, ...ADDED_COLUMNS, ''] as const;
/**
 * Of Google Sheets, data tables, error outputs, and Chat Trigger. Rows of other sources may have one of them, with a meaning for
 * the agent.
 */
const COLUMNS_OF_NODES: ReadonlyArray<readonly string[]> = [
	['row_number'],
	['id', 'createdAt', 'updatedAt'],
	ERROR_FIELDS,
	['chatInput', 'sessionId', 'action'],
];

/**
 * Finds the chosen columns.
 *
 * @throws InvalidInput if a column is missing, several match, or files name them differently
 */
export function resolveColumns(tables: readonly Table[], choice: ColumnChoice): Columns {
	const all = tables.map((table) => ({ file: table.file, columns: columnsIn(table, choice) }));
	const { columns } = all.reduce((first, other) => {
		const [one, two] = [first, other].map(describe);
		if (one === two) return first;
		throw new InvalidInput(
			`The files have different columns for phone numbers and names: ${all.map((each) => `${describe(each)} in ${quoted(each.file)}`).join(', ')}. Nothing was sent`,
			'Give these columns the same names in all files.',
		);
	});
	return columns;
}

function describe({ columns: { phone, personName } }: { columns: Columns }): string {
	return joinedWithAnd(
		[phone, ...(personName ? [personName] : [])].map(({ name }) => quoted(name)),
	);
}

function columnsIn(table: Table, choice: ColumnChoice): Columns {
	const { names } = table;
	const required = (wanted: WantedColumn) => {
		const column = resolve(table, wanted);
		if (column === undefined) throw missingColumn(table, wanted);
		return column;
	};
	const phoneWanted = { name: choice.phone, field: PHONE_FIELD };
	// The first person of a file without a header would be lost.
	if (isCampaignPhone(choice.phone)) throw missingColumn(table, phoneWanted);
	const phone = required(phoneWanted);
	const nameWanted = { name: choice.personName, field: NAME_FIELD };
	let personName: Column | undefined;
	if (choice.personName === DEFAULT_NAME_COLUMN) personName = resolve(table, nameWanted);
	else if (choice.personName !== '') personName = required(nameWanted);

	const reserved = new Set<string>([...NEVER_VARIABLES, phone.name]);
	if (personName !== undefined) reserved.add(personName.name);
	const usedNames = new Set<string>(NEVER_VARIABLES);
	const toVariable = (name: string) => {
		const column = required({ name, field: 'Columns to Send' });
		const last = column.path?.at(-1) ?? column.name;
		const variable = { name: usedNames.has(last) ? column.name : last, column };
		usedNames.add(variable.name);
		return variable;
	};
	const listed = choice.others === 'all' ? [] : choice.others.map(toVariable);
	const ofNodes = COLUMNS_OF_NODES.filter((all) => all.every((name) => names.has(name)));
	return {
		phone,
		personName,
		others: choice.others === 'all' ? 'all' : listed.filter(({ name }) => !reserved.has(name)),
		notOfAll: new Set([...reserved, ...ofNodes.flat()]),
	};
}

const PHONE_FIELD = 'Phone Column';
const NAME_FIELD = 'Person Name Column';
/** The most columns that a message names. */
const MAX_LISTED_COLUMNS = 20;

/** A field of the form that names a column. */
type WantedColumn = { name: string; field: string };

/** In this order: exact name, nested column, another spelling of the name, and for a default name a usual heading. */
function resolve(table: Table, wanted: WantedColumn): Column | undefined {
	// As n8n writes it when a column is dragged into a field: `['b c']`, `a.b`, `a['b c']`, or `a[0]`.
	const path = toPath(wanted.name);
	const [only = wanted.name] = path.length === 1 ? path : [];
	const exact = [wanted.name, only].find((name) => table.names.has(name));
	if (exact !== undefined) return uniqueColumn(table, exact);
	if (path.length > 1 && table.hasPath(path)) return { name: wanted.name, path };
	const match = (...like: readonly string[]) => onlyMatch(table, wanted, like);
	if (wanted.name === DEFAULT_PHONE_COLUMN) return match(only) ?? match(...PHONE_SYNONYMS);
	if (wanted.name === DEFAULT_NAME_COLUMN)
		return match(only) ?? match(...NAME_SYNONYMS) ?? match(CALL_RECORD_NAME);
	return match(only);
}

function uniqueColumn({ repeated, file }: Table, name: string): Column {
	if (!repeated.has(name)) return { name };
	throw new InvalidInput(
		`The header${ofFile(file)} has more than one column ${quoted(name)}, so nothing was sent`,
		'Remove or rename all but one of them.',
	);
}

function onlyMatch(
	table: Table,
	{ name, field }: WantedColumn,
	like: readonly string[],
): Column | undefined {
	const wanted = new Set(like.map(comparableHeading));
	const columns = [...table.names].filter(
		(column) => wanted.has(comparableHeading(column)) && !isOfAsked(column, table),
	);
	const [only, another] = columns;
	if (another === undefined) return only === undefined ? undefined : uniqueColumn(table, only);
	throw new InvalidInput(
		`Several columns${ofFile(table.file)} match ${quoted(name)}: ${named(columns, quoted, MAX_LISTED_COLUMNS)}. Nothing was sent`,
		`Name one of them ${quoted(name)}, or in '${field}', enter the exact name of the column.`,
	);
}

/** *Ask and Wait* adds the number of the person who was asked, who isn't the person of the row. */
function isOfAsked(column: string, { names }: Table): boolean {
	return column === 'phone_number' && names.has('asked');
}

/** Not the sign of `Score -1`. */
const BETWEEN_WORDS = /(?<=[\p{L}\p{M}\p{N}])(?:[\s_]+|-)(?=[\p{L}\p{M}\p{N}])/gu;
/** As in "Mobile No." */
const ENDING = /[.: ]/;

/**
 * Equal for two spellings of one heading. Marks are parts of letters (`पिता` isn't `पता`), and symbols distinguish columns
 * (`Q1.1` and `Q11`, `Price (₹)` and `Price ($)`).
 */
export function comparableHeading(name: string): string {
	const text = normalized(withoutInvisible(name), 'NFC').trim().toLowerCase();
	return withoutEnd(text, ENDING).replace(BETWEEN_WORDS, '');
}

/** The error of a column that the rows don't have. It lists their columns, those with phone numbers first. */
function missingColumn(table: Table, { name, field }: WantedColumn): InvalidInput {
	return new InvalidInput(
		`${sourceOf(table)} has no column ${quoted(name)}, so nothing was sent`,
		`Name the column ${quoted(name)}, or in '${field}', enter the name of a column, not a value of it. The first row of a sheet or file must name the columns. ${columnsOf(table, field)}`,
	);
}

/** All columns. For the phone column, those with phone numbers first. */
function columnsOf(table: Table, field: string): string {
	const [withPhones, others] = partition(
		[...table.names],
		(column) => field === PHONE_FIELD && isMostlyPhones(table, column),
	);
	const phones = withPhones.map((column) => `${quoted(column)} with phone numbers`);
	const columns = named([...phones, ...others.map(quoted)], String, MAX_LISTED_COLUMNS);
	return `${sourceOf(table)} has: ${columns}.`;
}

const sourceOf = ({ file }: Table) =>
	file === undefined ? 'The input' : `The file ${quoted(file)}`;

/** Most of the values in the first rows are phone numbers. */
function isMostlyPhones({ first }: Table, column: string): boolean {
	const values = first.map(({ json }) => json[column]).filter((value) => !isBlank(value));
	const phones = values.filter((value) => isCampaignPhone(plainText(value)));
	return phones.length > values.length / 2;
}

function ofFile(file: string | undefined): string {
	return file === undefined ? '' : ` of ${quoted(file)}`;
}

/** The hint if columns have other names than those that were entered. */
export function usedColumns(columns: Columns, choice: ColumnChoice): Explanation | undefined {
	const pairs = [
		[columns.phone, choice.phone],
		[columns.personName, choice.personName],
	] as const;
	const renamed = pairs.flatMap(([column, entered]) => {
		const isSame = [entered, toPath(entered).join()].includes(column?.name ?? entered);
		return column === undefined || isSame ? [] : [`${quoted(column.name)} as ${entered}`];
	});
	if (renamed.length === 0) return undefined;
	return { message: `Columns used: ${renamed.join(', ')}`, resolution: '' };
}

/** Why nobody's name is known. Undefined if the rows have names, or that was chosen. */
export function whyNoNames(
	[table]: readonly Table[],
	columns: Columns,
	choice: ColumnChoice,
): Explanation | undefined {
	if (choice.personName === '' || columns.personName !== undefined) return undefined;
	return {
		message: `The input has no column ${quoted(choice.personName)}, so nobody's name is known`,
		resolution: `In '${NAME_FIELD}', enter the column with the names, or empty it to push without names.${table === undefined ? '' : ` ${columnsOf(table, NAME_FIELD)}`}`,
	};
}
