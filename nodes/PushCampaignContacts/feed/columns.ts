import { InvalidInput } from '../../shared/api/errors';
import { REASON_COLUMN, STATUS_COLUMN, ROWS_PER_BREATH, type Breathe, type FeedItem } from './feed';

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

/** What the user asked for; an empty person name column sends no names. */
export type ColumnChoice = { phone: string; personName: string; others: OtherColumns };

export type OtherColumns = 'all' | 'none' | readonly string[];

/** What the columns are called in this feed. */
export type Columns = {
	phone: string;
	personName: string | undefined;
	others: OtherColumns;
	/** Never sent as a prompt variable, because it would stand for something else. */
	reserved: ReadonlySet<string>;
};

/** The documented fields, what this node adds to rejected rows, and columns without a heading. */
const NEVER_VARIABLES = [
	DEFAULT_PHONE_COLUMN,
	DEFAULT_NAME_COLUMN,
	REASON_COLUMN,
	STATUS_COLUMN,
	'',
] as const;
const SHOWN_COLUMNS = 20;

/** The names of all columns in the order of their first appearance; rows need not be alike. */
export async function collectColumns(
	items: readonly FeedItem[],
	breathe: Breathe,
): Promise<Set<string>> {
	const found = new Set<string>();
	for (const [index, { json }] of items.entries()) {
		if (index % ROWS_PER_BREATH === 0 && index > 0) await breathe();
		for (const column in json) found.add(column);
	}
	return found;
}

/** @throws InvalidInput when a column is missing or could be one of several */
export function resolveColumns(found: ReadonlySet<string>, choice: ColumnChoice): Columns {
	const phone = resolve(found, choice.phone, 'Phone Column', PHONE_SYNONYMS);
	if (phone === undefined) {
		throw missingColumn(found, choice.phone, 'Phone Column', 'phone numbers');
	}
	const personName = resolvePersonName(found, choice.personName);
	const reserved = [...NEVER_VARIABLES, phone];
	return {
		phone,
		personName,
		others: resolveOthers(found, choice.others),
		reserved: new Set(personName === undefined ? reserved : [...reserved, personName]),
	};
}

function resolvePersonName(found: ReadonlySet<string>, wanted: string): string | undefined {
	if (wanted.trim() === '') return undefined;
	const column = resolve(found, wanted, 'Person Name Column', NAME_SYNONYMS);
	// The default is a convenience; a name that was typed in is meant.
	if (column === undefined && wanted !== DEFAULT_NAME_COLUMN) {
		throw missingColumn(found, wanted, 'Person Name Column', 'names');
	}
	return column;
}

function resolveOthers(found: ReadonlySet<string>, others: OtherColumns): OtherColumns {
	if (others === 'all' || others === 'none') return others;
	return others.map((wanted) => {
		const column = resolve(found, wanted, 'Columns to Send', []);
		if (column === undefined)
			throw missingColumn(found, wanted, 'Columns to Send', 'the values to send');
		return column;
	});
}

/** Exactly as written, else the same in another case or spacing, else (for a default) a synonym. */
function resolve(
	found: ReadonlySet<string>,
	wanted: string,
	field: string,
	synonyms: readonly string[],
): string | undefined {
	if (found.has(wanted)) return wanted;
	const same = only(matching(found, [wanted]), wanted, field);
	if (same !== undefined || !isDefault(wanted)) return same;
	return only(matching(found, synonyms), wanted, field);
}

function isDefault(wanted: string): boolean {
	return wanted === DEFAULT_PHONE_COLUMN || wanted === DEFAULT_NAME_COLUMN;
}

function matching(found: ReadonlySet<string>, names: readonly string[]): string[] {
	const wanted = new Set(names.map(simplified));
	return [...found].filter((column) => wanted.has(simplified(column)));
}

function simplified(name: string): string {
	return name
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]/gu, '');
}

function only(columns: readonly string[], wanted: string, field: string): string | undefined {
	if (columns.length <= 1) return columns[0];
	throw new InvalidInput(
		`More than one column could be "${wanted}": ${quotedColumns(columns)}`,
		`Enter the name of the right one in ${field}, exactly as it is in the input. Nothing was sent.`,
	);
}

function missingColumn(
	found: ReadonlySet<string>,
	wanted: string,
	field: string,
	holds: string,
): InvalidInput {
	return new InvalidInput(
		`The input has no column "${wanted}"`,
		`Enter in ${field} the name of the column that holds ${holds}. The input has: ${quotedColumns([...found])}. Nothing was sent.`,
	);
}

function quotedColumns(columns: readonly string[]): string {
	const more = columns.length > SHOWN_COLUMNS ? ` and ${columns.length - SHOWN_COLUMNS} more` : '';
	return (
		columns
			.slice(0, SHOWN_COLUMNS)
			.map((column) => `"${column}"`)
			.join(', ') + more
	);
}
