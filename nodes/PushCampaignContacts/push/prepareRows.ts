import upperFirst from 'lodash/upperFirst';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/modelAdvice';
import type { Contact } from '../../shared/api/types';
import { isJsonObject, type JsonValue } from '../../shared/json';
import {
	isAccepted,
	readCampaignPhone,
	readPhoneAsWritten,
	type PhoneReading,
} from '../../shared/phone/campaignPhone';
import { detachedCopy, quoted } from '../../shared/values';
import { NumbersByRow, PhonesByRow, RowsByPhone } from './phoneArrays';
import { cellOf, type Column } from './cells';
import { columnsOfFile, type Columns, type RowColumns } from './columns';
import type { ContactRow, RejectedRow } from './pushTypes';
import type { RowSource, RowNames } from './rows';
import { ContactBuffer } from './contactBuffer';

export type PrepareOptions = {
	normalizePhones: boolean;
	removeDuplicates: boolean;
	/** Whether a model reads why a row is rejected. */
	isTool: boolean;
};

/**
 * `rows` are to be sent, in the order of the push. By row: `phones` as they are sent, `keys` the same
 * for one person in every form; empty for a row that is left out.
 */
export type PreparedRows = {
	rows: number[];
	phones: PhonesByRow;
	keys: PhonesByRow;
	rejectedRows: RejectedRow[];
	/** Made anew each time: a large push is held only once, or not at all. */
	contactsOf: (rows: readonly number[]) => Promise<ContactBuffer>;
};

/** Looks at every row before any is sent, and leaves out unusable ones and duplicates. */
export async function prepareRows(
	source: RowSource,
	columns: Columns,
	options: PrepareOptions,
): Promise<PreparedRows> {
	const { phones, keys, rejectedRows } = await checkRows(source, columns, options);
	return {
		rows: rowsWith(phones, source.count),
		phones,
		keys,
		rejectedRows,
		contactsOf: async (rows) => {
			const contacts = new ContactBuffer(rows.length);
			await source.pick(rows, (row, index, unusable, file = 0) => {
				const own = columnsOfFile(columns, file);
				const reading = readRow(row, own, options);
				const isSame =
					unusable === undefined && isAccepted(reading) && phones.has(index, reading.phone);
				if (!isSame) throw changedFile();
				try {
					contacts.add(toContact(row, own, reading.phone));
				} catch (error) {
					throw notWritable(source.names.one(index), error);
				}
			});
			return contacts;
		},
	};
}

/** A function by itself: what it looks duplicates up in would else be held until the push ends. */
async function checkRows(
	source: RowSource,
	columns: Columns,
	options: PrepareOptions,
): Promise<Pick<PreparedRows, 'phones' | 'keys' | 'rejectedRows'>> {
	const phones = new PhonesByRow(source.count);
	const keys = new PhonesByRow(source.count);
	const rejectedRows: RejectedRow[] = [];
	const duplicates: Array<{ index: number; key: string }> = [];
	const keptRows = new RowsByPhone(source.count);
	const nameLengths = new NumbersByRow(source.count);

	await source.each((row, index, unusable, file = 0) => {
		const own = columnsOfFile(columns, file);
		const reading =
			unusable === undefined
				? readRow(row, own, options)
				: { reason: unusable, forModel: unusable };
		if (!isAccepted(reading)) {
			const reason = options.isTool ? reading.forModel : reading.reason;
			rejectedRows.push({ index, status: 'rejected', reason: detachedCopy(reason) });
			return;
		}
		const { phone, key } = reading;
		if (options.removeDuplicates) {
			const nameLength = personNameOf(row, own)?.length ?? 0;
			const kept = keptRows.first(key, index);
			// Of two equally long names the earlier row stays.
			if (kept !== index && nameLength <= nameLengths.at(kept)) {
				duplicates.push({ index, key });
				return;
			}
			if (kept !== index) {
				duplicates.push({ index: kept, key });
				phones.set(kept, '');
				keys.set(kept, '');
				keptRows.set(key, index);
			}
			nameLengths.set(index, nameLength);
		}
		phones.set(index, phone);
		keys.set(index, key);
	});

	for (const { index, key } of duplicates) {
		rejectedRows.push(new SameNumber(index, keptRows.get(key) ?? 0, source.names, options.isTool));
	}
	return { phones, keys, rejectedRows };
}

/** A duplicate; half of a large push may be such, so its reason is put into words when it is asked for. */
class SameNumber implements RejectedRow {
	readonly status = 'duplicate';

	constructor(
		readonly index: number,
		private readonly kept: number,
		private readonly names: RowNames,
		private readonly isTool: boolean,
	) {}

	get reason(): string {
		const same = `${upperFirst(this.names.one(this.kept))} has the same phone number and a person name that is at least as long.`;
		return this.isTool ? same : `${same} The node pushes one row per phone number.`;
	}
}

/** What is sent must be what was checked. */
export function changedFile(): InvalidInput {
	return new InvalidInput(
		'The file is not the same any more as when its rows were checked, so what is left of it was not sent',
		onScreenOnly('Start the workflow again with the file as it is now.'),
	);
}

/** n8n hands on what a node before made of a cell, also what holds itself. */
function notWritable(row: string, error: unknown): InvalidInput {
	const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
	return new InvalidInput(
		`A cell of ${row} cannot be written as JSON (${why}), so what is left of the rows was not sent`,
		onScreenOnly(
			'Turn it into text or a plain number in the node before, or leave its column out.',
		),
	);
}

/** A cell of the phone column, in the way that *Normalize Phone Numbers* asks for. */
export function readPhoneCell(cell: unknown, normalizePhones: boolean): PhoneReading {
	return normalizePhones ? readCampaignPhone(cell) : readPhoneAsWritten(cell);
}

function readRow(
	row: ContactRow,
	columns: RowColumns,
	{ normalizePhones }: PrepareOptions,
): PhoneReading {
	const reading = readPhoneCell(cellOf(row, columns.phone), normalizePhones);
	if (!isAccepted(reading) || personNameOf(row, columns) !== undefined) return reading;
	const { personName, lastName } = columns;
	const column = textIn(row, personName) === undefined ? personName : lastName;
	const name = quoted(column?.name ?? '');
	return {
		reason: `The column ${name} holds no text in this row, so there is no name to send. Put the name in it as plain text.`,
		forModel: `${name} is not text, so there is no name to send. Give the name as plain text.`,
	};
}

function rowsWith(phones: PhonesByRow, count: number): number[] {
	const rows: number[] = [];
	for (let row = 0; row < count; row++) if (phones.isSet(row)) rows.push(row);
	return rows;
}

/** The row as the service takes it: phone, name and the columns that ride along. */
export function toContact(row: ContactRow, columns: RowColumns, phone: string): Contact {
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
function personNameOf(row: ContactRow, { personName, lastName }: RowColumns): string | undefined {
	const name = textIn(row, personName);
	if (lastName === undefined || name === undefined) return name;
	const last = textIn(row, lastName);
	return last === undefined ? undefined : `${name} ${last}`.trim();
}

function textIn(row: ContactRow, column: Column | undefined): string | undefined {
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
