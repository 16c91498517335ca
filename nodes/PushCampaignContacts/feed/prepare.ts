import type { Contact } from '../../shared/api/types';
import { isJsonObject, type JsonValue } from '../../shared/json';
import {
	isAccepted,
	readCampaignPhone,
	readPhoneAsWritten,
	type PhoneReading,
} from '../../shared/phone/campaignPhone';
import { cellOf, type Column } from './cells';
import type { Columns } from './columns';
import { ROWS_PER_BREATH, type Breathe, type FeedItem, type FeedRow, type UnsentRow } from './feed';

export type PrepareOptions = { normalizePhones: boolean; removeDuplicates: boolean };

/**
 * `rows` are to be sent, in the order of the feed. By row: `phones` as they are sent, `keys` the same
 * for one person in every form; empty for a row that is left out.
 */
export type PreparedFeed = {
	rows: number[];
	phones: string[];
	keys: string[];
	unsentRows: UnsentRow[];
	/** Made anew each time: a large feed is held only once. */
	contactOf: (row: number) => Contact;
};

type Duplicate = { index: number; key: string };

/** Looks at every row before any is sent, and leaves out unusable ones and duplicates. */
export async function prepareFeed(
	items: readonly FeedItem[],
	columns: Columns,
	options: PrepareOptions,
	breathe: Breathe,
): Promise<PreparedFeed> {
	const phones = new Array<string>(items.length).fill('');
	const keys = new Array<string>(items.length).fill('');
	const unsentRows: UnsentRow[] = [];
	const duplicates: Duplicate[] = [];
	const keptRows = new Map<string, number>();

	for (const [index, { json: row }] of items.entries()) {
		if (index % ROWS_PER_BREATH === 0 && index > 0) await breathe();
		const reading = readRow(row, columns, options);
		if (!isAccepted(reading)) {
			unsentRows.push({ index, status: 'rejected', reason: reading.reason });
			continue;
		}
		const { phone, key } = reading;
		const earlier = options.removeDuplicates ? keptRows.get(key) : undefined;
		if (earlier !== undefined && !hasLongerName(row, items[earlier]?.json, columns)) {
			duplicates.push({ index, key });
			continue;
		}
		if (earlier !== undefined) {
			duplicates.push({ index: earlier, key });
			phones[earlier] = '';
			keys[earlier] = '';
		}
		phones[index] = phone;
		keys[index] = key;
		if (options.removeDuplicates) keptRows.set(key, index);
	}

	for (const { index, key } of duplicates) {
		unsentRows.push({ index, status: 'duplicate', reason: sameNumber(keptRows.get(key)) });
	}
	const contactOf = (row: number) => toContact(items[row]?.json ?? {}, columns, phones[row] ?? '');
	return { rows: indexesOfUsed(phones), phones, keys, unsentRows, contactOf };
}

/** A cell of the phone column, in the way that *Normalize Phone Numbers* asks for. */
export function readPhoneCell(cell: unknown, normalizePhones: boolean): PhoneReading {
	return normalizePhones ? readCampaignPhone(cell) : readPhoneAsWritten(cell);
}

function readRow(
	row: FeedRow,
	columns: Columns,
	{ normalizePhones }: PrepareOptions,
): PhoneReading {
	const reading = readPhoneCell(cellOf(row, columns.phone), normalizePhones);
	if (!isAccepted(reading) || personNameOf(row, columns) !== undefined) return reading;
	const { personName, lastName } = columns;
	const column = textIn(row, personName) === undefined ? personName : lastName;
	return {
		reason: `The column "${column?.name ?? ''}" holds no text in this row, so there is no name to send. Put the name in it as plain text.`,
	};
}

/** Of two equally long names the earlier row stays. */
function hasLongerName(row: FeedRow, other: FeedRow | undefined, columns: Columns): boolean {
	return nameLength(row, columns) > nameLength(other ?? {}, columns);
}

function nameLength(row: FeedRow, columns: Columns): number {
	return personNameOf(row, columns)?.length ?? 0;
}

function sameNumber(keptRow: number | undefined): string {
	return `Item ${keptRow} has the same phone number and a person name that is at least as long, so only that one is sent.`;
}

function indexesOfUsed(phones: readonly string[]): number[] {
	const rows: number[] = [];
	for (const [index, phone] of phones.entries()) if (phone !== '') rows.push(index);
	return rows;
}

/** The row as the service takes it: phone, name and the columns that ride along. */
export function toContact(row: FeedRow, columns: Columns, phone: string): Contact {
	const contact: Contact = { phone };
	const name = personNameOf(row, columns);
	if (name) contact.person_name = name;
	if (columns.others === 'none') return contact;
	if (columns.others === 'all') {
		for (const name in row) {
			if (columns.notOfAll.has(name) || !Object.hasOwn(row, name)) continue;
			addVariable(contact, name, row[name]);
		}
	} else {
		for (const { name, column } of columns.others) {
			if (!columns.reserved.has(name)) addVariable(contact, name, cellOf(row, column));
		}
	}
	return contact;
}

function addVariable(contact: Contact, name: string, cell: unknown): void {
	const value = toJson(cell);
	if (value === undefined) return;
	if (name === '__proto__') {
		// Plain assignment would change the contact's prototype instead of adding the column.
		Object.defineProperty(contact, name, { value, enumerable: true });
	} else {
		contact[name] = value;
	}
}

/** The name as text; empty when the row has none, undefined when the cell holds no text. */
function personNameOf(row: FeedRow, { personName, lastName }: Columns): string | undefined {
	const name = textIn(row, personName);
	if (lastName === undefined || name === undefined) return name;
	const last = textIn(row, lastName);
	return last === undefined ? undefined : `${name} ${last}`.trim();
}

function textIn(row: FeedRow, column: Column | undefined): string | undefined {
	const cell = column === undefined ? '' : cellOf(row, column);
	if (cell === undefined || cell === null) return '';
	if (typeof cell === 'string') return cell.trim();
	return typeof cell === 'number' ? String(cell) : undefined;
}

/** A cell as it travels; what JSON cannot say is left out. */
function toJson(cell: unknown): JsonValue | undefined {
	if (cell === null || typeof cell === 'string' || typeof cell === 'number') return cell;
	if (typeof cell === 'boolean' || Array.isArray(cell) || isJsonObject(cell)) return cell;
	return undefined;
}
