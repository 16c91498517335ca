import { InvalidInput } from '../../core/service/errors';
import type { Contact } from '../../core/service/contractTypes';
import { isJsonObject, type JsonValue } from '../../core/values/json';
import { forEachWithPauses } from '../../core/values/pauses';
import { hasNoValue, nameIn } from '../../core/values/sheetCells';
import { messageOf } from '../../core/values/values';
import { cellOf, type Columns } from './columns';
import { type ContactRow, nameOf, type Row, ROWS_PER_LOOK } from './rows';

/**
 * The contacts of rows, as JSON separated by commas. Written for each request, so that a large push isn't in memory twice.
 *
 * @throws InvalidInput if a cell can't be converted to JSON
 */
export async function contactsOf(rows: readonly Row[], columns: Columns): Promise<string> {
	const contacts: string[] = [];
	const add = (row: Row) => {
		try {
			contacts.push(JSON.stringify(toContact(row.json, columns, row.phone)));
		} catch (error) {
			throw notWritable(nameOf(row), error);
		}
	};
	await forEachWithPauses(rows, add, ROWS_PER_LOOK);
	return contacts.join();
}

/** Earlier nodes may return any value, such as an object that contains itself. */
function notWritable(row: string, error: unknown): InvalidInput {
	const [why = ''] = messageOf(error).split('\n');
	return new InvalidInput(
		`A cell of ${row} can't be converted to JSON (${why}), so the remaining rows weren't sent`,
		'Convert it to text or a number in the previous node, or remove its column.',
	);
}

/** The contact for a row: phone, name, and other columns. */
function toContact(row: ContactRow, columns: Columns, phone: string): Contact {
	const contact: Contact = { phone };
	const personName = personNameOf(row, columns);
	if (personName) contact.person_name = personName;
	const { others, notOfAll } = columns;
	if (others === 'all') {
		for (const column in row) {
			if (!notOfAll.has(column) && Object.hasOwn(row, column))
				addVariable(contact, column, row[column]);
		}
	} else for (const { name, column } of others) addVariable(contact, name, cellOf(row, column));
	return contact;
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
export function personNameOf(row: ContactRow, { personName }: Columns): string | undefined {
	const cell = personName === undefined ? '' : cellOf(row, personName);
	if (cell === undefined || cell === null) return '';
	return typeof cell === 'string' || typeof cell === 'number' ? nameIn(String(cell)) : undefined;
}

/** Undefined if JSON has no such value. */
function toJson(cell: unknown): JsonValue | undefined {
	if (cell === null || typeof cell === 'string' || typeof cell === 'number') return cell;
	if (typeof cell === 'boolean' || Array.isArray(cell) || isJsonObject(cell)) return cell;
	return undefined;
}
