import compact from 'lodash/compact';
import get from 'lodash/get';
import has from 'lodash/has';
import partition from 'lodash/partition';
import toPath from 'lodash/toPath';
import uniq from 'lodash/uniq';
import type { Contact } from '../../core/service/contractTypes';
import { ERROR_FIELDS, InvalidInput } from '../../core/service/errors';
import type { Explanation } from '../../core/service/explanation';
import { isCampaignPhone } from '../../core/phone/india';
import { isBlank } from '../../core/phone/written';
import { isJsonObject, type JsonValue } from '../../core/values/json';
import { forEachWithPauses } from '../../core/values/pauses';
import { hasNoValue, headingKey, NAME_SYNONYMS, nameIn } from '../../core/values/sheetCells';
import { messageOf, named, plainText, quoted } from '../../core/values/values';
import {
	type ContactRow,
	MAX_FIRST_ROWS,
	nameOf,
	ofFile,
	type Row,
	ROWS_PER_LOOK,
	type Table,
} from './rows';

export const DEFAULT_PHONE_COLUMN = 'phone';
export const DEFAULT_NAME_COLUMN = 'person_name';

/** Used if the default column is missing, in any case and spacing. */
const PHONE_SYNONYMS = [
	'Phone Number',
	'Phone No',
	'Mobile',
	'Mobile Number',
	'Mobile No',
	'Contact Number',
] as const;

/** Columns that the outputs add. They aren't sent if a row is pushed again. */
const ADDED_COLUMNS = [
	'push_status',
	'rejection_reason',
	'phone_key',
	'campaign_upload_id',
] as const;

/** The column fields of the form. An empty person name column sends no names. */
export type ColumnChoice = {
	phone: string;
	personName: string;
	others: 'all' | readonly string[];
};

/** The columns of the rows, by their names or paths. */
export type Columns = {
	phone: string;
	personName: string | undefined;
	/** By the names of their prompt variables. */
	others: 'all' | ReadonlyMap<string, string>;
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
	const all = tables.map((table) => columnsIn(table, choice));
	return all.reduce((first, other) => {
		if (first.phone === other.phone && first.personName === other.personName) return first;
		const names = uniq(
			compact([first, other].flatMap(({ phone, personName }) => [phone, personName])),
		);
		throw new InvalidInput(
			`The files name the columns of phone numbers or names differently (${names.map(quoted).join(', ')}), so nothing was sent`,
			'Give these columns the same names in all files.',
		);
	});
}

function columnsIn(table: Table, choice: ColumnChoice): Columns {
	const required = (name: string, field: string) => {
		const column = find(table, { name, field });
		if (column === undefined) throw missingColumn(table, { name, field });
		return column;
	};
	// The first person of a file without a header would be lost.
	if (isCampaignPhone(choice.phone))
		throw missingColumn(table, { name: choice.phone, field: PHONE_FIELD });
	const phone = required(choice.phone, PHONE_FIELD);
	let personName: string | undefined;
	if (choice.personName === DEFAULT_NAME_COLUMN)
		personName = find(table, { name: choice.personName, field: NAME_FIELD });
	else if (choice.personName !== '') personName = required(choice.personName, NAME_FIELD);

	const reserved = new Set<string>([...NEVER_VARIABLES, phone, personName ?? '']);
	const variables = new Map<string, string>();
	for (const entered of choice.others === 'all' ? [] : choice.others) {
		const column = required(entered, 'Columns to Send');
		const last = table.names.has(column) ? column : (toPath(column).at(-1) ?? column);
		const isUsed = variables.has(last) || (last !== column && reserved.has(last));
		const variable = isUsed ? column : last;
		if (!reserved.has(variable)) variables.set(variable, column);
	}
	const ofNodes = COLUMNS_OF_NODES.filter((all) => all.every((name) => table.names.has(name)));
	return {
		phone,
		personName,
		others: choice.others === 'all' ? 'all' : variables,
		notOfAll: new Set([...reserved, ...ofNodes.flat()]),
	};
}

const PHONE_FIELD = 'Phone Column';
const NAME_FIELD = 'Person Name Column';
/** The most columns that a message names. */
const MAX_LISTED_COLUMNS = 20;

/** A field of the form that names a column. */
type WantedColumn = { name: string; field: string };

/** In this order: exact name, nested value, another spelling of the name, and for a default name a usual heading. */
function find(table: Table, { name, field }: WantedColumn): string | undefined {
	const { names, repeated, sample } = table;
	// As n8n writes it when a column is dragged into a field: `['b c']`, `a.b`, `a['b c']`, or `a[0]`.
	const path = toPath(name);
	const [only = name] = path.length === 1 ? path : [];
	const exact = [name, only].filter((one) => names.has(one)).slice(0, 1);
	const isNested = exact.length === 0 && sample.some(({ json }) => has(json, path));
	if (isNested) return name;
	const spelled = (...headings: readonly string[]) => {
		const keys = new Set(headings.map(headingKey));
		return [...names].filter((one) => keys.has(headingKey(one)) && !isOfAsked(one, names));
	};
	const found = [exact, spelled(only), spelled(...synonymsOf(name))].find(
		({ length }) => length > 0,
	);
	const [column, another] = (found ?? []).flatMap((one) => (repeated.has(one) ? [one, one] : one));
	if (another === undefined) return column;
	throw new InvalidInput(
		`Several columns${ofFile(table)} match ${quoted(name)}: ${named(found ?? [], quoted, MAX_LISTED_COLUMNS)}. Nothing was sent`,
		`Name only one of them ${quoted(name)}, or in '${field}', enter the exact name of the column.`,
	);
}

/** *Ask and Wait* adds the number of the person who was asked, who isn't the person of the row. */
function isOfAsked(column: string, names: ReadonlySet<string>): boolean {
	return column === 'phone_number' && names.has('asked');
}

function synonymsOf(name: string): readonly string[] {
	if (name === DEFAULT_PHONE_COLUMN) return PHONE_SYNONYMS;
	return name === DEFAULT_NAME_COLUMN ? NAME_SYNONYMS : [];
}

/** The error of a column that the rows don't have. It lists their columns, those with phone numbers first. */
function missingColumn(table: Table, { name, field }: WantedColumn): InvalidInput {
	const source = table.file === undefined ? 'The input' : `The file ${quoted(table.file)}`;
	const [withPhones, others] = partition(
		[...table.names],
		(column) => field === PHONE_FIELD && isMostlyPhones(table, column),
	);
	const phones = withPhones.map((column) => `${quoted(column)} with phone numbers`);
	const columns = named([...phones, ...others.map(quoted)], String, MAX_LISTED_COLUMNS);
	const orEmpty = field === NAME_FIELD ? ' Empty it to push without names.' : '';
	return new InvalidInput(
		`${source} has no column ${quoted(name)}, so nothing was sent`,
		`Name the column ${quoted(name)}, or in '${field}', enter the name of a column, not a value of it.${orEmpty} The first row of a sheet or file must name the columns. ${source} has: ${columns}.`,
	);
}

/** Most of the values in the first rows are phone numbers. */
function isMostlyPhones({ sample }: Table, column: string): boolean {
	const cells = sample.slice(0, MAX_FIRST_ROWS).map(({ json }) => json[column]);
	const values = cells.filter((value) => !isBlank(value));
	const phones = values.filter((value) => isCampaignPhone(plainText(value)));
	return phones.length > values.length / 2;
}

/** The hint if columns have other names than those that were entered. */
export function usedColumns(
	{ phone, personName }: Columns,
	choice: ColumnChoice,
): Explanation | undefined {
	const pairs = [
		[phone, choice.phone],
		[personName, choice.personName],
	] as const;
	const renamed = pairs.flatMap(([column, entered]) => {
		const isSame = [entered, toPath(entered).join()].includes(column ?? entered);
		return isSame ? [] : [`${quoted(column)} as ${entered}`];
	});
	if (renamed.length === 0) return undefined;
	return { message: `Columns used: ${renamed.join(', ')}`, resolution: '' };
}

/** @throws InvalidInput if nobody's name is known, unless that was chosen */
export function requireNames(
	tables: readonly Table[],
	columns: Columns,
	{ personName: name }: ColumnChoice,
): void {
	if (name === '' || columns.personName !== undefined) return;
	for (const table of tables) throw missingColumn(table, { name, field: NAME_FIELD });
}

/** A cell by the name of its column, or by the path of a nested value: `properties.phone`. Undefined if the row has none. */
export function cellOf(row: ContactRow, column: string): unknown {
	return has(row, column) ? get(row, column) : undefined;
}

/** Empty if the row has no name. Undefined if the cell isn't text. */
export function personNameOf(row: ContactRow, { personName }: Columns): string | undefined {
	const cell = personName === undefined ? '' : cellOf(row, personName);
	if (cell === undefined || cell === null) return '';
	return typeof cell === 'string' || typeof cell === 'number' ? nameIn(String(cell)) : undefined;
}

/**
 * The contacts of rows, as JSON separated by commas. Written for each request, so that a large push isn't in memory twice.
 *
 * @throws InvalidInput if a cell can't be converted to JSON
 */
export async function contactsOf(rows: readonly Row[], columns: Columns): Promise<string> {
	const contacts: string[] = [];
	const add = (row: Row) => {
		try {
			contacts.push(JSON.stringify(toContact(row, columns)));
		} catch (error) {
			throw notWritable(row, error);
		}
	};
	await forEachWithPauses(rows, add, ROWS_PER_LOOK);
	return contacts.join();
}

/** Earlier nodes may return any value, such as an object that contains itself. */
function notWritable(row: Row, error: unknown): InvalidInput {
	const [why = ''] = messageOf(error).split('\n');
	return new InvalidInput(
		`A cell of ${nameOf(row)} can't be converted to JSON (${why}), so the remaining rows weren't sent`,
		'Convert it to text or a number in the previous node, or remove its column.',
	);
}

/** The contact for a row: phone, name, and other columns. */
function toContact({ json, phone }: Row, columns: Columns): Contact {
	const personName = personNameOf(json, columns);
	const contact: Contact = { phone, ...(personName && { person_name: personName }) };
	const { others, notOfAll } = columns;
	const add = (name: string, cell: unknown) => {
		if (hasNoValue(cell)) contact[name] = '';
		else if (isJson(cell)) contact[name] = cell;
	};
	if (others === 'all') {
		for (const name of Object.keys(json)) if (!notOfAll.has(name)) add(name, json[name]);
	} else for (const [name, column] of others) add(name, cellOf(json, column));
	return contact;
}

function isJson(cell: unknown): cell is JsonValue {
	const isScalar = cell === null || ['string', 'number', 'boolean'].includes(typeof cell);
	return isScalar || Array.isArray(cell) || isJsonObject(cell);
}
