import upperFirst from 'lodash/upperFirst';
import { InvalidInput } from '../../core/service/errors';
import { type Explanation, onScreenOnly } from '../../core/service/resolution';
import type { Contact } from '../../core/service/contractTypes';
import { isJsonObject, type JsonValue } from '../../core/values/json';
import { isAccepted, readCampaignPhone, type PhoneReading } from '../../core/phone/campaignPhone';
import { forEachWithPauses, Pauses } from '../../core/values/pauses';
import { hasNoValue, nameIn } from '../../core/values/sheetCells';
import { counted, messageOf, named, plainText, quoted } from '../../core/values/values';
import { cellOf, type Column, type ContactRow, PUSH_STATUS_COLUMN, STATUS_COLUMN } from './cells';
import type { Columns } from './columns';
import { nameOf, type PushInput, type Row, ROWS_PER_LOOK, settle, type Table } from './rows';

export type ColumnsOf = (table: Table) => Columns;

export type PreparedRows = {
	/** The rows to send. */
	rows: Row[];
	/** The phone keys of rows that say that an earlier push of them has an unknown outcome. */
	markedUnknown: ReadonlySet<string>;
	/** Whether any row has a name. */
	hasNames: boolean;
	/** Cells with a word instead of a value, such as `#REF!`. It isn't sent. */
	emptied: { count: number; examples: string[] };
};

const MAX_EXAMPLES = 3;

/**
 * Checks every row before any is sent. Rejects unusable rows. Of rows with the same number, keeps the one with the longest
 * name, as the service does (Campaigns, rule 2).
 */
export async function prepareRows(input: PushInput, columnsOf: ColumnsOf): Promise<PreparedRows> {
	const keptRows = new RowsByPhone();
	const emptied: PreparedRows['emptied'] = { count: 0, examples: [] };
	const countEmptied = (cell: string) => {
		if (++emptied.count <= MAX_EXAMPLES) emptied.examples.push(cell);
	};
	const markedUnknown = new Set<string>();
	const duplicates: Array<{ row: Row; key: string }> = [];
	let hasNames = false;
	let unusable = 0;
	let example = '';

	const pauses = new Pauses(ROWS_PER_LOOK);
	for (const row of input.rows) {
		if (pauses.isDue()) await pauses.take();
		const { json, table } = row;
		const columns = columnsOf(table);
		const name = personNameOf(json, columns);
		hasNames ||= Boolean(name);
		const reading =
			row.status === undefined ? readRow(json, columns, name) : { reason: row.reason };
		if (isAccepted(reading)) {
			visitEmptied(json, columns, countEmptied);
			const key = reading.phoneKey;
			if (isUnknown(json)) markedUnknown.add(key);
			row.phone = reading.phone;
			const kept = keptRows.get(key);
			// If both names are equally long, the earlier row is kept.
			const isKept = kept === undefined || lengthOf(name) > lengthOf(nameInRow(kept, columnsOf));
			if (isKept) keptRows.set(key, row);
			const other = isKept ? kept : row;
			if (other !== undefined) {
				other.phone = '';
				duplicates.push({ row: other, key });
			}
		} else {
			settle(row, 'rejected', reading.reason);
			unusable++;
			example ||= reading.reason;
		}
		if (unusable + duplicates.length > input.maxOutputRows) {
			throw tooManyUnusable(input.maxOutputRows, example);
		}
	}
	for (const { row, key } of duplicates) {
		const kept = keptRows.get(key) ?? row;
		const name = nameInRow(kept, columnsOf);
		const which = name ? `${name} (${nameOf(kept)})` : upperFirst(nameOf(kept));
		const reason = `${which} has the same number and was kept. The node pushes one row per phone number.`;
		settle(row, 'duplicate', reason);
	}
	const rows = input.rows.filter(({ phone }) => phone !== '');
	return { rows, markedUnknown, hasNames, emptied };
}

/** The contacts of rows, as JSON. Created for each request, so that a large push isn't in memory twice. */
export async function contactsOf(rows: readonly Row[], columnsOf: ColumnsOf): Promise<string[]> {
	const contacts: string[] = [];
	await forEachWithPauses(rows, (row) => {
		try {
			contacts.push(JSON.stringify(toContact(row.json, columnsOf(row.table), row.phone)));
		} catch (error) {
			throw notWritable(nameOf(row), error);
		}
	});
	return contacts;
}

/** n8n would stand still while a single map of a million numbers grows. */
const MAPS = 64;

class RowsByPhone {
	private readonly maps = Array.from({ length: MAPS }, () => new Map<number, Row>());

	get(key: string): Row | undefined {
		const number = Number(key);
		return this.maps[number % MAPS]?.get(number);
	}

	set(key: string, row: Row): void {
		const number = Number(key);
		this.maps[number % MAPS]?.set(number, row);
	}
}

/** The hint if cells have a word instead of a value. Undefined if none has. */
export function whyEmptied({
	emptied: { count, examples },
}: PreparedRows): Explanation | undefined {
	if (count === 0) return undefined;
	const have = count === 1 ? 'has' : 'have';
	return {
		message: `${counted(count, 'cell')} ${have} a word that stands for no value, such as ${named(examples, quoted)}`,
		resolution: onScreenOnly("Such words weren't sent. Correct the formulas or the export."),
	};
}

/** Before anything is sent, because n8n could run out of memory when the push has ended. */
function tooManyUnusable(max: number, example: string): InvalidInput {
	const first = example === '' ? '' : ` The first reason: ${example}`;
	return new InvalidInput(
		`More than ${max.toLocaleString('en-US')} rows can't be pushed or have the phone number of another row, and the 'Rejected' output can't contain that many. Nothing was sent`,
		onScreenOnly(`Remove these rows from the file, or push fewer rows at a time.${first}`),
	);
}

/** Earlier nodes may return any value, such as an object that contains itself. */
function notWritable(row: string, error: unknown): InvalidInput {
	const [why = ''] = messageOf(error).split('\n');
	return new InvalidInput(
		`A cell of ${row} can't be converted to JSON (${why}), so the remaining rows weren't sent`,
		onScreenOnly('Convert it to text or a number in the previous node, or remove its column.'),
	);
}

/** @param personName undefined if its cell isn't text */
function readRow(row: ContactRow, columns: Columns, personName: string | undefined): PhoneReading {
	const reading = readCampaignPhone(cellOf(row, columns.phone));
	if (!isAccepted(reading) || personName !== undefined) return reading;
	const isFirst = nameCell(row, columns.personName) === undefined;
	const column = isFirst ? columns.personName : columns.lastName;
	const name = quoted(column?.name ?? '');
	return { reason: `The name in column ${name} isn't text. Enter the name as plain text.` };
}

/** Whether the row is from *Rejected* of a push, this node's or that of another one, and may be in its campaign. */
function isUnknown(row: ContactRow): boolean {
	return [PUSH_STATUS_COLUMN, STATUS_COLUMN].some(
		(name) => plainText(cellOf(row, { name })).trim().toLowerCase() === 'unknown',
	);
}

/** The contact for a row: phone, name, and other columns. */
function toContact(row: ContactRow, columns: Columns, phone: string): Contact {
	const contact: Contact = { phone };
	const name = personNameOf(row, columns);
	if (name) contact.person_name = name;
	forEachVariable(row, columns, (variable, cell) => {
		addVariable(contact, variable, cell);
	});
	return contact;
}

/** Visits the prompt variables of a row. An iterator would create an object for each of millions of cells. */
function forEachVariable(
	row: ContactRow,
	{ others, reserved, notOfAll }: Columns,
	visit: (name: string, cell: unknown) => void,
): void {
	if (others === 'none') return;
	if (others === 'all') {
		for (const name in row) {
			if (!notOfAll.has(name) && Object.hasOwn(row, name)) visit(name, row[name]);
		}
		return;
	}
	for (const { name, column } of others) {
		if (!reserved.has(name)) visit(name, cellOf(row, column));
	}
}

/** Visits the cells with a word instead of a value, which isn't sent. */
function visitEmptied(row: ContactRow, columns: Columns, visit: (cell: string) => void): void {
	for (const column of [columns.personName, columns.lastName]) {
		const cell = column && cellOf(row, column);
		if (typeof cell === 'string' && nameIn(cell) !== cell.trim()) visit(cell.trim());
	}
	forEachVariable(row, columns, (_name, cell) => {
		if (typeof cell === 'string' && hasNoValue(cell)) visit(cell.trim());
	});
}

function addVariable(contact: Contact, name: string, cell: unknown): void {
	const value = hasNoValue(cell) ? '' : toJson(cell);
	if (value === undefined) return;
	if (name === '__proto__') {
		// Plain assignment would change the contact's prototype instead of adding the column.
		Object.defineProperty(contact, name, { value, enumerable: true });
	} else {
		contact[name] = value;
	}
}

function lengthOf(name = ''): number {
	return name.length;
}

function nameInRow({ json, table }: Row, columnsOf: ColumnsOf): string | undefined {
	return personNameOf(json, columnsOf(table));
}

/** Empty if the row has no name. Undefined if the cell isn't text. */
function personNameOf(row: ContactRow, { personName, lastName }: Columns): string | undefined {
	const name = nameCell(row, personName);
	if (lastName === undefined || name === undefined) return name;
	const last = nameCell(row, lastName);
	return last === undefined ? undefined : `${name} ${last}`.trim();
}

function nameCell(row: ContactRow, column: Column | undefined): string | undefined {
	const cell = column === undefined ? '' : cellOf(row, column);
	if (cell === undefined || cell === null) return '';
	return typeof cell === 'string' || typeof cell === 'number' ? nameIn(String(cell)) : undefined;
}

/** Undefined if JSON has no such value. */
function toJson(cell: unknown): JsonValue | undefined {
	if (cell === null || typeof cell === 'string' || typeof cell === 'number') return cell;
	if (typeof cell === 'boolean' || Array.isArray(cell) || isJsonObject(cell)) return cell;
	return undefined;
}
