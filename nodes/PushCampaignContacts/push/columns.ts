import difference from 'lodash/difference';
import groupBy from 'lodash/groupBy';
import identity from 'lodash/identity';
import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import toPath from 'lodash/toPath';
import { ERROR_FIELDS, InvalidInput } from '../../core/service/errors';
import { type Explanation, onScreenOnly, type Reader } from '../../core/service/resolution';
import { NAME_SYNONYMS } from '../../core/values/sheetCells';
import { isCampaignPhone } from '../../core/phone/campaignPhone';
import { named, quoted } from '../../core/values/values';
import { ADDED_COLUMNS, type Column } from './cells';
import {
	comparableHeading,
	inputName,
	isPhoneHeading,
	MAX_LISTED_COLUMNS,
	missingColumn,
	PHONE_FIELD,
	quotedColumns,
	unmarked,
	type WantedColumn,
} from './headings';
import type { ContactsFrom, Table } from './rows';

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
const CALL_RECORD_NAME = ['Caller Name'] as const;

/** Used together with *Last Name Column*. */
const FIRST_NAME_SYNONYMS = ['First Name', 'Given Name'] as const;

/** The column fields of the form. An empty person name column sends no names. */
export type ColumnChoice = {
	phone: string;
	personName: string;
	/** Empty if the person name column has full names. */
	lastName: string;
	others: 'all' | 'none' | readonly string[];
	/** AI Agent nodes add columns to the rows of a tool. */
	reader: Reader;
	from: ContactsFrom;
};

/** A column and the name of its prompt variable. */
type Variable = { name: string; column: Column };

/** The columns of the rows. */
export type Columns = {
	phone: Column;
	personName: Column | undefined;
	lastName: Column | undefined;
	others: 'all' | 'none' | readonly Variable[];
	/** Never sent as prompt variables, because they have another meaning. */
	reserved: ReadonlySet<string>;
	/** Not sent by *Send All*: the reserved ones, and columns that other nodes add. */
	notOfAll: ReadonlySet<string>;
};

/** Documented fields, columns that this node adds, and columns without a heading. */
const NEVER_VARIABLES = [DEFAULT_PHONE_COLUMN, DEFAULT_NAME_COLUMN, ...ADDED_COLUMNS, ''] as const;
/** Added by the Google Sheets node. */
const SHEETS_COLUMNS = ['row_number'];
/** n8n adds these to every row of a data table. */
const TABLE_COLUMNS = ['id', 'createdAt', 'updatedAt'];
/** Added by n8n's chat and the AI Agent node. */
const AGENT_COLUMNS = ['toolCallId', 'chatInput', 'sessionId', 'action'];

/**
 * Finds the chosen columns.
 *
 * @throws InvalidInput if a column is missing or several columns match
 */
export function resolveColumns(found: Table, choice: ColumnChoice): Columns {
	const required = (wanted: WantedColumn, content: string, synonyms: readonly string[] = []) => {
		const resolved = resolve(found, wanted, synonyms);
		if (resolved === undefined) throw missingColumn(found, wanted, content, choice.from);
		return resolved;
	};

	const phoneWanted = { name: choice.phone, field: PHONE_FIELD };
	// The first person of a file without a header would be lost.
	if (isCampaignPhone(choice.phone))
		throw missingColumn(found, phoneWanted, 'phone numbers', choice.from);
	const usual = [...found.names].map(unmarked).filter(isPhoneHeading);
	const filled = choice.phone === DEFAULT_PHONE_COLUMN ? withoutEmptyPhones(found) : found;
	const phone =
		resolve(filled, phoneWanted, PHONE_SYNONYMS) ??
		resolve(filled, phoneWanted, usual) ??
		required(phoneWanted, 'phone numbers');
	if (phone.name === 'phone_number' && phone.name !== choice.phone && isAsked(found)) {
		throw missingColumn(found, phoneWanted, 'phone numbers', choice.from);
	}

	const hasLastName = choice.lastName !== '';
	const nameWanted = { name: choice.personName, field: 'Person Name Column' };
	const synonyms = hasLastName ? FIRST_NAME_SYNONYMS : NAME_SYNONYMS;
	let personName: Column | undefined;
	if (choice.personName !== '') {
		// Only the default column is optional.
		const isOptional = !hasLastName && choice.personName === DEFAULT_NAME_COLUMN;
		personName = isOptional
			? (resolve(found, nameWanted, synonyms) ?? resolve(found, nameWanted, CALL_RECORD_NAME))
			: required(nameWanted, hasLastName ? 'first names' : 'names', synonyms);
	}
	const lastName = hasLastName
		? required({ name: choice.lastName, field: 'Last Name Column' }, 'last names')
		: undefined;

	let others: Columns['others'];
	if (typeof choice.others === 'string') others = choice.others;
	else {
		const listed = choice.others.map((name) =>
			required({ name, field: 'Columns to Send' }, 'values to send'),
		);
		const usedNames = new Set<string>(NEVER_VARIABLES);
		others = listed.map((column) => {
			const last = column.path?.at(-1) ?? column.name;
			const name = usedNames.has(last) ? column.name : last;
			usedNames.add(name);
			return { name, column };
		});
	}

	// First and last names are also sent as variables. A full name isn't.
	const fullName = hasLastName ? undefined : personName?.name;
	const reserved = [...NEVER_VARIABLES, phone.name, ...(fullName === undefined ? [] : [fullName])];
	// Rows of other sources may have one of them, with a meaning for the agent.
	const isTable = TABLE_COLUMNS.every((name) => found.names.has(name));
	const hasErrors =
		found.filled.has('error') && ERROR_FIELDS.every((name) => found.names.has(name));
	const ofNodes = [
		...SHEETS_COLUMNS,
		...(isTable ? TABLE_COLUMNS : []),
		...(hasErrors ? ERROR_FIELDS : []),
		...(choice.reader === 'forModel' && choice.from === 'items' ? AGENT_COLUMNS : []),
	];
	return {
		phone,
		personName,
		lastName,
		others,
		reserved: new Set(reserved),
		notOfAll: new Set([...reserved, ...ofNodes]),
	};
}

/** The hints if columns have other names than those that were entered. They name the files that differ from others. */
export function takenColumns(
	tables: readonly Table[],
	columnsOf: (table: Table) => Columns,
	choice: ColumnChoice,
): Explanation[] {
	const byColumns = groupBy(tables, (table) => takenIn(columnsOf(table), choice));
	const areSame = Object.keys(byColumns).length === 1;
	return Object.entries(omit(byColumns, '')).map(([columns, some]) => {
		const where = areSame ? '' : ` in ${named(some, ({ file = '' }) => quoted(file))}`;
		return { message: `Columns used${where}: ${columns}`, resolution: onScreenOnly('') };
	});
}

/** The columns with other names. Empty if there are none. */
function takenIn({ phone, personName, lastName, others }: Columns, choice: ColumnChoice): string {
	const listed = typeof others === 'string' ? [] : others.map(({ column }) => column.name);
	const entered = typeof choice.others === 'string' ? [] : choice.others;
	const pairs = [
		[phone.name, choice.phone],
		[personName?.name, choice.personName],
		[lastName?.name, choice.lastName],
		...listed.map((name, index) => [name, entered[index]]),
	];
	const renamed = pairs.flatMap(([name, wanted = '']) => {
		const isSame = name === undefined || name === wanted || isEqual(toPath(wanted), [name]);
		return isSame ? [] : [`${quoted(name)} as ${wanted}`];
	});
	return named(renamed, identity, MAX_LISTED_COLUMNS);
}

const ENTER_NAMES = "In 'Person Name Column', enter the column with the names.";
const WITHOUT_NAMES = "To push without names, empty 'Person Name Column'.";

/**
 * Why the column of the names is missing. Undefined if all tables have it, or that was chosen.
 *
 * @param tables the input, or each file
 */
export function whyNoNameColumn(
	tables: readonly Table[],
	columnsOf: (table: Table) => Columns,
	{ personName, from }: ColumnChoice,
): Explanation | undefined {
	const nameless = tables.find((table) => columnsOf(table).personName === undefined);
	if (personName === '' || nameless === undefined) return undefined;
	const { file } = nameless;
	const column = quoted(personName);
	const [where, there, enter] =
		file === undefined
			? [inputName(from), '', ENTER_NAMES]
			: [`The file ${quoted(file)}`, ' there', `Rename its column with the names to ${column}.`];
	return {
		message: `${where} has no column ${column}, so nobody's name is known${there}`,
		resolution: onScreenOnly(`${enter} ${WITHOUT_NAMES}`),
	};
}

/** The hint if no row has a name in the column of one of these tables. Undefined if none has the column. */
export function whyNoNames(columns: readonly Columns[]): Explanation | undefined {
	const { personName } = columns.find((each) => each.personName) ?? {};
	return (
		personName && {
			message: `The column ${quoted(personName.name)} is empty in every row, so nobody's name is known`,
			resolution: onScreenOnly(`${ENTER_NAMES} ${WITHOUT_NAMES}`),
		}
	);
}

/** Without empty columns that have a usual heading for phone numbers, if another one has values. */
function withoutEmptyPhones(found: Table): Table {
	const usual = [...found.names].filter((name) => isPhoneHeading(unmarked(name)));
	if (usual.length < 2) return found;
	const empty = usual.filter((name) => !found.filled.has(name));
	if (empty.length === usual.length) return found;
	return { ...found, names: new Set(difference([...found.names], empty)) };
}

/** In this order: exact name, nested column, another spelling of the name, and for a default name a synonym. */
function resolve(
	found: Table,
	wanted: WantedColumn,
	synonyms: readonly string[],
): Column | undefined {
	// As n8n writes it when a column is dragged into a field: `['b c']`, `a.b`, `a['b c']`, or `a[0]`.
	const path = toPath(wanted.name);
	const [only = ''] = path.length === 1 ? path : [];
	const exact = [wanted.name, only].find((name) => found.names.has(name));
	if (exact !== undefined) return uniqueColumn(found, exact);
	if (path.length > 1 && found.hasPath(path)) return { name: wanted.name, path };
	const same = uniqueColumn(found, onlyMatch(found, [only || wanted.name], wanted));
	const isDefault = wanted.name === DEFAULT_PHONE_COLUMN || wanted.name === DEFAULT_NAME_COLUMN;
	if (same !== undefined || !isDefault) return same;
	// Of an entered name, an asterisk may be a part, such as of a grade.
	return uniqueColumn(found, onlyMatch(found, [wanted.name, ...synonyms], wanted, unmarked));
}

function uniqueColumn({ repeated, file }: Table, name: string | undefined): Column | undefined {
	if (name === undefined) return undefined;
	if (!repeated.has(name)) return { name };
	const header = file === undefined ? 'The header' : `The header of ${quoted(file)}`;
	throw new InvalidInput(
		`${header} has more than one column ${quoted(name)}, so nothing was sent`,
		onScreenOnly('Remove or rename all but one of them.'),
	);
}

function onlyMatch(
	{ names, file }: Table,
	like: readonly string[],
	{ name, field }: WantedColumn,
	comparedPart = (column: string) => column,
): string | undefined {
	const wanted = new Set(like.map(comparableHeading));
	const columns = [...names].filter((column) =>
		wanted.has(comparableHeading(comparedPart(column))),
	);
	if (columns.length <= 1) return columns[0];
	throw new InvalidInput(
		`Several columns${file === undefined ? '' : ` of ${quoted(file)}`} match ${quoted(name)}: ${quotedColumns(columns)}. Nothing was sent`,
		onScreenOnly(`In '${field}', enter the exact name of the column as in the input.`),
	);
}

/** Whether the rows are the output of *Ask and Wait*. Its `phone_number` is the person who was asked. */
function isAsked({ names }: Table): boolean {
	return names.has('asked');
}
