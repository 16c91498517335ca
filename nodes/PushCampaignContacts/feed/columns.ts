import { InvalidInput } from '../../shared/api/errors';
import { normalized } from '../../shared/text';
import { quoted } from '../../shared/values';
import { columnOf, type Column } from './cells';
import { ADDED_COLUMNS } from './feed';
import type { FoundColumns } from './rows';

export const DEFAULT_PHONE_COLUMN = 'phone';
export const DEFAULT_NAME_COLUMN = 'person_name';

/** Looked for, in any case and spacing, when the default column is not there. */
export const PHONE_SYNONYMS = [
	'Phone Number',
	'Phone No',
	'Mobile',
	'Mobile Number',
	'Mobile No',
	'Contact Number',
] as const;
export const NAME_SYNONYMS = [
	'Name',
	'Full Name',
	'Contact Name',
	'Customer Name',
	'Lead Name',
] as const;

/** Looked for beside a column of last names. */
const FIRST_NAME_SYNONYMS = ['First Name', 'Given Name'] as const;

/** Where the rows are: what the nodes before this one put out, contacts written as JSON, or a file. */
export type ContactsFrom = 'items' | 'json' | 'csv';

/** What the user asked for; an empty person name column sends no names. */
export type ColumnChoice = {
	phone: string;
	personName: string;
	/** Empty where the person name column holds whole names. */
	lastName: string;
	others: 'all' | 'none' | readonly string[];
	/** The fields whose text an expression made. */
	computed: ReadonlySet<string>;
	/** Whether a model feeds, beside whose rows an agent lays its own. */
	forModel: boolean;
	from: ContactsFrom;
};

/** Under which name each goes along. */
export type Variable = { name: string; column: Column };

/** Where everything stands in the rows of this feed. */
export type Columns = {
	phone: Column;
	personName: Column | undefined;
	lastName: Column | undefined;
	others: 'all' | 'none' | readonly Variable[];
	/** Never sent as a prompt variable, because it would stand for something else. */
	reserved: ReadonlySet<string>;
	/** Not sent where all are: these, and what tools add. */
	notOfAll: ReadonlySet<string>;
};

/** The documented fields, what this node adds to rows, and columns without a heading. */
const NEVER_VARIABLES = [DEFAULT_PHONE_COLUMN, DEFAULT_NAME_COLUMN, ...ADDED_COLUMNS, ''] as const;
/** What Google Sheets adds to each row, to find it again. */
const OF_SHEETS = ['row_number'];
/** What n8n's chat adds to the row that an AI agent works on, and the agent to what the model says. */
const OF_AGENTS = ['toolCallId', 'chatInput', 'sessionId', 'action'];
const SHOWN_COLUMNS = 20;

type Found = FoundColumns & { from: ContactsFrom };

/** A field of the form that names a column. */
type Wanted = { name: string; field: string; isComputed: boolean };

/** @throws InvalidInput when a column is missing or could be one of several */
export function resolveColumns(columns: FoundColumns, choice: ColumnChoice): Columns {
	const found = { ...columns, from: choice.from };
	const wanted = (name: string, field: string): Wanted => ({
		name,
		field,
		isComputed: choice.computed.has(field),
	});
	const phoneWanted = wanted(choice.phone, 'Phone Column');
	const phone = resolve(found, phoneWanted, PHONE_SYNONYMS);
	if (phone === undefined) throw noPhoneColumn(found, phoneWanted);
	const personName = resolvePersonName(
		found,
		wanted(choice.personName, 'Person Name Column'),
		choice.lastName !== '',
	);
	const lastName = resolveLastName(found, wanted(choice.lastName, 'Last Name Column'));
	// Half a name says what the whole does not: the agent may use both.
	const whole = lastName === undefined ? personName?.name : undefined;
	const reserved = [...NEVER_VARIABLES, phone.name, ...(whole === undefined ? [] : [whole])];
	const hasAgents = choice.forModel && choice.from === 'items';
	const ofTools = hasAgents ? [...OF_SHEETS, ...OF_AGENTS] : OF_SHEETS;
	return {
		phone,
		personName,
		lastName,
		others: resolveOthers(found, choice.others, (name) => wanted(name, 'Columns to Send')),
		reserved: new Set(reserved),
		notOfAll: new Set([...reserved, ...ofTools]),
	};
}

function resolvePersonName(found: Found, wanted: Wanted, isHalf: boolean): Column | undefined {
	if (wanted.name.trim() === '') return undefined;
	const column = resolve(found, wanted, isHalf ? FIRST_NAME_SYNONYMS : NAME_SYNONYMS);
	// The default is a convenience; a name that was typed in is meant.
	if (column === undefined && (isHalf || wanted.name !== DEFAULT_NAME_COLUMN)) {
		throw missingColumn(found, wanted, isHalf ? 'first names' : 'names');
	}
	return column;
}

function resolveLastName(found: Found, wanted: Wanted): Column | undefined {
	if (wanted.name === '') return undefined;
	const column = resolve(found, wanted, []);
	if (column === undefined) throw missingColumn(found, wanted, 'last names');
	return column;
}

function resolveOthers(
	found: Found,
	others: ColumnChoice['others'],
	wantedOf: (name: string) => Wanted,
): Columns['others'] {
	if (others === 'all' || others === 'none') return others;
	const columns = others.map((name) => {
		const wanted = wantedOf(name);
		const column = resolve(found, wanted, []);
		if (column === undefined) throw missingColumn(found, wanted, 'the values to send');
		return column;
	});
	const taken = new Set<string>(NEVER_VARIABLES);
	return columns.map((column) => {
		const last = column.path?.at(-1) ?? column.name;
		const name = taken.has(last) ? column.name : last;
		taken.add(name);
		return { name, column };
	});
}

/** Exactly as written, else within another column, else the same in another case or spacing, else (for a default) a synonym. */
function resolve(found: Found, wanted: Wanted, synonyms: readonly string[]): Column | undefined {
	if (found.names.has(wanted.name)) return plain(found, wanted.name);
	const inner = columnOf(wanted.name);
	if (inner.path !== undefined && found.hasWithin(inner)) return inner;
	const same = plain(found, only(matching(found.names, [wanted.name]), wanted));
	if (same !== undefined || !isDefault(wanted.name)) return same;
	return plain(found, only(matching(found.names, synonyms), wanted));
}

function plain({ twice }: Found, name: string | undefined): Column | undefined {
	if (name === undefined) return undefined;
	if (twice?.has(name) !== true) return { name };
	throw new InvalidInput(
		`The header of the file has more than one column ${quoted(name)}, so nothing was sent`,
		'Keep one of them, or give each a name of its own in the file.',
	);
}

function isDefault(wanted: string): boolean {
	return wanted === DEFAULT_PHONE_COLUMN || wanted === DEFAULT_NAME_COLUMN;
}

function matching(found: ReadonlySet<string>, names: readonly string[]): string[] {
	const wanted = new Set(names.map(simplified));
	return [...found].filter((column) => wanted.has(simplified(column)));
}

function simplified(name: string): string {
	return normalized(name, 'NFKC')
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]/gu, '');
}

function only(columns: readonly string[], { name, field }: Wanted): string | undefined {
	if (columns.length <= 1) return columns[0];
	throw new InvalidInput(
		`More than one column could be ${quoted(name)}: ${quotedColumns(columns)}`,
		`Enter the name of the right one in ${field}, exactly as it is in the input. Nothing was sent.`,
	);
}

/** What most often hides behind a missing phone column is told first. */
function noPhoneColumn(found: Found, wanted: Wanted): InvalidInput {
	return found.slip() ?? missingColumn(found, wanted, 'phone numbers');
}

function missingColumn(
	{ names, from }: Found,
	{ name, field, isComputed }: Wanted,
	what: string,
): InvalidInput {
	if (from === 'json') {
		return new InvalidInput(
			`No contact has a value named ${quoted(name)}`,
			`Give the contacts ${what} under this name. They have: ${quotedColumns([...names])}. Nothing was sent.`,
		);
	}
	const rows = from === 'csv' ? 'file' : 'input';
	const has = `The ${rows} has: ${quotedColumns([...names])}. Nothing was sent.`;
	if (isComputed) {
		return new InvalidInput(
			`${field} holds an expression that gives ${quoted(name)}, and the ${rows} has no column of this name`,
			`${field} takes the name of the column that holds ${what}, not a value of it. Switch the field to Fixed and enter the name, or drag the column into the empty field. ${has}`,
		);
	}
	return new InvalidInput(
		`The ${rows} has no column ${quoted(name)}`,
		`Enter in ${field} the name of the column that holds ${what}. ${has}`,
	);
}

function quotedColumns(columns: readonly string[]): string {
	const more = columns.length > SHOWN_COLUMNS ? ` and ${columns.length - SHOWN_COLUMNS} more` : '';
	return columns.slice(0, SHOWN_COLUMNS).map(quoted).join(', ') + more;
}
