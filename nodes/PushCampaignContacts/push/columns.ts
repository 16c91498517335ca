import upperFirst from 'lodash/upperFirst';
import { InvalidInput } from '../../shared/api/errors';
import { forEveryone, onScreenOnly } from '../../shared/api/modelAdvice';
import { normalized } from '../../shared/text';
import { named, quoted } from '../../shared/values';
import { columnOf, type Column } from './cells';
import { ADDED_COLUMNS } from './pushTypes';
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
	/** Whether a model pushes, beside whose rows an agent lays its own. */
	isTool: boolean;
	from: ContactsFrom;
};

/** Under which name each goes along. */
export type Variable = { name: string; column: Column };

/** Where everything is in the rows. */
export type Columns = RowColumns & {
	/** Of several files, where it is in the rows of each. */
	files?: readonly RowColumns[];
	/** What a person should know of how they were found. */
	note?: string | undefined;
};

export type RowColumns = {
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

/**
 * Where the chosen columns are: in each of several files by itself, since their headings need not be alike.
 *
 * @throws InvalidInput when a column is missing or could be one of several
 */
export function resolveColumns(columns: FoundColumns, choice: ColumnChoice): Columns {
	const [first, ...others] = columns.files ?? [];
	if (first === undefined) return resolveRowColumns(columns, choice);
	const resolved = resolveRowColumns(first, choice);
	const further = others.map((found) => withSameNames(resolveRowColumns(found, choice), resolved));
	const files = [resolved, ...further];
	const nameless = [first, ...others].filter((_found, at) => files[at]?.personName === undefined);
	const isNoted = nameless.length > 0 && nameless.length < files.length;
	return { ...resolved, files, note: isNoted ? withoutNames(nameless) : undefined };
}

function withoutNames(found: readonly FoundColumns[]): string {
	const files = named(found, ({ file = '' }) => quoted(file));
	const [these, their, they] =
		found.length === 1
			? [`The file ${files} has`, 'its', 'it has']
			: [`The files ${files} have`, 'their', 'they have'];
	return `${these} no column for names, so ${their} contacts have none. If ${they} names, call their column "${DEFAULT_NAME_COLUMN}".`;
}

export function columnsOfFile(columns: Columns, file: number): RowColumns {
	return columns.files?.[file] ?? columns;
}

/** A prompt variable has one name, whatever the heading of its column is in each file. */
function withSameNames(columns: RowColumns, { others: first }: RowColumns): RowColumns {
	const { others } = columns;
	if (typeof others === 'string' || typeof first === 'string') return columns;
	const named = others.map(({ name, column }, at) => ({ name: first[at]?.name ?? name, column }));
	return { ...columns, others: named };
}

function resolveRowColumns(columns: FoundColumns, choice: ColumnChoice): RowColumns {
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
	const hasAgents = choice.isTool && choice.from === 'items';
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
	const same = plain(found, only(found, [wanted.name], wanted));
	if (same !== undefined || !isDefault(wanted.name)) return same;
	return plain(found, only(found, synonyms, wanted));
}

function plain({ twice, file }: Found, name: string | undefined): Column | undefined {
	if (name === undefined) return undefined;
	if (twice?.has(name) !== true) return { name };
	throw new InvalidInput(
		`The header of ${theFile(file)} has more than one column ${quoted(name)}, so nothing was sent`,
		onScreenOnly('Keep one of them, or give each a name of its own in the file.'),
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

function theFile(name: string | undefined): string {
	return name === undefined ? 'the file' : `the file ${quoted(name)}`;
}

function only(
	{ names, file }: Found,
	like: readonly string[],
	{ name, field }: Wanted,
): string | undefined {
	const columns = matching(names, like);
	if (columns.length <= 1) return columns[0];
	throw new InvalidInput(
		`More than one column could be ${quoted(name)}: ${quotedColumns(columns)}`,
		onScreenOnly(
			`Enter the name of the right one in ${field}, exactly as it is in ${file === undefined ? 'the input' : theFile(file)}. Nothing was sent.`,
		),
	);
}

/** What most often hides behind a missing phone column is told first. */
function noPhoneColumn(found: Found, wanted: Wanted): InvalidInput {
	return found.slip() ?? missingColumn(found, wanted, 'phone numbers');
}

function missingColumn(
	{ names, from, file }: Found,
	{ name, field, isComputed }: Wanted,
	what: string,
): InvalidInput {
	if (from === 'json') {
		return new InvalidInput(
			`No contact has a value named ${quoted(name)}`,
			forEveryone(
				`Give the contacts ${what} under this name. They have: ${quotedColumns([...names])}. Nothing was sent.`,
			),
		);
	}
	const rows = from === 'csv' ? theFile(file) : 'the input';
	const header = file === undefined ? '' : ' The first row of each file must name its columns.';
	const has = `${upperFirst(rows)} has: ${quotedColumns([...names])}.${header} Nothing was sent.`;
	if (isComputed) {
		return new InvalidInput(
			`${field} holds an expression that gives ${quoted(name)}, and ${rows} has no column of this name`,
			onScreenOnly(
				`${field} takes the name of the column that holds ${what}, not a value of it. Switch the field to Fixed and enter the name, or drag the column into the empty field. ${has}`,
			),
		);
	}
	return new InvalidInput(
		`${upperFirst(rows)} has no column ${quoted(name)}`,
		onScreenOnly(`Enter in ${field} the name of the column that holds ${what}. ${has}`),
	);
}

function quotedColumns(columns: readonly string[]): string {
	const more = columns.length > SHOWN_COLUMNS ? ` and ${columns.length - SHOWN_COLUMNS} more` : '';
	return columns.slice(0, SHOWN_COLUMNS).map(quoted).join(', ') + more;
}
