import upperFirst from 'lodash/upperFirst';
import { InvalidInput } from '../../shared/api/errors';
import { type Explanation, onScreenOnly } from '../../shared/api/resolution';
import type { Contact } from '../../shared/api/contractTypes';
import { isJsonObject, type JsonValue } from '../../shared/json';
import { isAccepted, readCampaignPhone, type PhoneReading } from '../../shared/phone/campaignPhone';
import { Pauses } from '../../shared/pauses';
import { hasNoValue, nameIn } from '../../shared/sheetCells';
import { counted, detachedCopy, messageOf, named, plainText, quoted } from '../../shared/values';
import { NumbersByRow, PhonesByRow, RowsByPhone } from './phones';
import { RowSet } from './rowSet';
import { cellOf, type Column, type ContactRow, PUSH_STATUS_COLUMN, STATUS_COLUMN } from './cells';
import type { Columns } from './columns';
import { RowsNotPushed } from './outcome';
import { ROWS_PER_LOOK, type RowSource } from './rows';

export type PreparedRows = {
	/** The rows to send. */
	rows: RowSet;
	/** Their phones. */
	phones: PhonesByRow;
	notPushed: RowsNotPushed;
	/** The numbers of rows that say that an earlier push of them has an unknown outcome. */
	unknownBefore: ReadonlySet<number>;
	/** Whether any row has a name. */
	hasNames: boolean;
	/** Cells with a word instead of a value, such as `#REF!`. It isn't sent. */
	emptied: { count: number; examples: string[] };
	/** Creates the contacts on each call, as JSON, so that a large push isn't in memory twice. */
	contactsOf: (rows: readonly number[]) => Promise<string[]>;
};

type ColumnsOf = (row: number) => Columns;

/**
 * Checks every row before any is sent. Rejects unusable rows and duplicates.
 *
 * @param columns as of `source.columns()`
 */
export async function prepareRows(
	source: RowSource,
	columns: readonly Columns[],
): Promise<PreparedRows> {
	const columnsOf = (row: number): Columns => {
		const own = columns[source.tableOf(row)];
		if (own === undefined) throw new RangeError(`Row ${row} has no columns`);
		return own;
	};
	const { phones, notPushed, ...checked } = await checkRows(source, columnsOf);
	return {
		rows: await rowsWith(phones, source.count),
		phones,
		notPushed,
		...checked,
		contactsOf: async (some) => {
			const contacts: string[] = [];
			await source.pick(some, (row, index, unusable) => {
				const own = columnsOf(index);
				const reading = readCampaignPhone(cellOf(row, own.phone));
				const isSame = unusable === undefined && isAccepted(reading) && phones.has(index, reading);
				if (!isSame) throw changedFile();
				try {
					contacts.push(JSON.stringify(toContact(row, own, reading.phone)));
				} catch (error) {
					throw notWritable(source.names.one(index), error);
				}
			});
			return contacts;
		},
	};
}

const MAX_EXAMPLES = 3;

/** Of 16 bits. Longer names count as equally long. */
const MAX_NAME_LENGTH = 65_535;

/**
 * Of rows with the same number, keeps the one with the longest name, as the service does (Campaigns, rule 2). A separate
 * function, so that its lookup tables are freed before the push.
 */
async function checkRows(
	source: RowSource,
	columnsOf: ColumnsOf,
): Promise<Omit<PreparedRows, 'rows' | 'contactsOf'>> {
	const phones = new PhonesByRow();
	const notPushed = new RowsNotPushed();
	const duplicates: Array<{ index: number; key: string }> = [];
	const keptRows = new RowsByPhone(phones, source.count);
	const nameLengths = new NumbersByRow(Uint16Array);
	const emptied: PreparedRows['emptied'] = { count: 0, examples: [] };
	const countEmptied = (cell: string) => {
		if (++emptied.count <= MAX_EXAMPLES) emptied.examples.push(detachedCopy(cell));
	};
	const unknownBefore = new Set<number>();
	let hasNames = false;

	await source.each((row, index, unusable) => {
		const columns = columnsOf(index);
		const name = personNameOf(row, columns);
		hasNames ||= Boolean(name);
		const reading = unusable === undefined ? readRow(row, columns, name) : { reason: unusable };
		if (isAccepted(reading)) {
			visitEmptied(row, columns, countEmptied);
			if (isUnknown(row)) unknownBefore.add(Number(reading.phoneKey));
			const nameLength = Math.min(name?.length ?? 0, MAX_NAME_LENGTH);
			const kept = keptRows.get(reading.phoneKey);
			// If both names are equally long, the earlier row is kept.
			const isKept = kept === undefined || nameLength > nameLengths.at(kept);
			if (kept !== undefined)
				duplicates.push({ index: isKept ? kept : index, key: reading.phoneKey });
			if (isKept) {
				if (kept !== undefined) phones.clear(kept);
				phones.set(index, reading);
				nameLengths.set(index, nameLength);
				keptRows.add(index);
			}
		} else {
			notPushed.add(index, 'rejected', detachedCopy(reading.reason));
		}
		if (notPushed.size + duplicates.length > source.maxOutputRows) {
			throw tooManyUnusable(source.maxOutputRows, notPushed);
		}
	});
	for (const { index, key } of duplicates) {
		const kept = keptRows.get(key) ?? 0;
		const row = source.names.one(kept);
		const name = personNameOf(source.at?.(kept) ?? {}, columnsOf(kept));
		const which = name ? `${name} (${row})` : upperFirst(row);
		const reason = `${which} has the same number and was kept. The node pushes one row per phone number.`;
		notPushed.add(index, 'duplicate', reason);
	}
	return { phones, notPushed, unknownBefore, hasNames, emptied };
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
function tooManyUnusable(max: number, { added: [first] }: RowsNotPushed): InvalidInput {
	const example = first === undefined ? '' : ` The first reason: ${first.reason}`;
	return new InvalidInput(
		`More than ${max.toLocaleString('en-US')} rows can't be pushed or have the phone number of another row, and the 'Rejected' output can't contain that many. Nothing was sent`,
		onScreenOnly(`Remove these rows from the file, or push fewer rows at a time.${example}`),
	);
}

/** The rows that are sent must be the rows that were checked. */
export function changedFile(): InvalidInput {
	return new InvalidInput(
		"The file changed after its rows were checked, so the remaining rows weren't sent",
		onScreenOnly('Restore the file, or push only the remaining rows of the new one.'),
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
	const isFirst = nameOf(row, columns.personName) === undefined;
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

async function rowsWith(phones: PhonesByRow, count: number): Promise<RowSet> {
	const rows = new RowSet();
	const pauses = new Pauses(ROWS_PER_LOOK);
	let first = 0;
	for (let row = 0; row < count; row++) {
		if (pauses.isDue()) await pauses.take();
		if (phones.isSet(row)) continue;
		rows.addRange(first, row - 1);
		first = row + 1;
	}
	rows.addRange(first, count - 1);
	return rows;
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

/** Empty if the row has no name. Undefined if the cell isn't text. */
function personNameOf(row: ContactRow, { personName, lastName }: Columns): string | undefined {
	const name = nameOf(row, personName);
	if (lastName === undefined || name === undefined) return name;
	const last = nameOf(row, lastName);
	return last === undefined ? undefined : `${name} ${last}`.trim();
}

function nameOf(row: ContactRow, column: Column | undefined): string | undefined {
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
