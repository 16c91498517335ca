import { isJsonObject, type JsonValue } from '../../shared/json';
import type { Contact } from '../../shared/api/types';
import type { Columns } from './columns';
import type { Row } from './feed';

/** A cell as it travels; what JSON cannot say is left out. */
function toJson(cell: unknown): JsonValue | undefined {
	if (cell === null || typeof cell === 'string' || typeof cell === 'number') return cell;
	if (typeof cell === 'boolean' || Array.isArray(cell) || isJsonObject(cell)) return cell;
	return undefined;
}

/** The name as text; empty when the row has none, undefined when the cell holds no text. */
export function personNameOf(row: Row, { personName }: Columns): string | undefined {
	const cell = personName === undefined ? '' : row[personName];
	if (cell === undefined || cell === null) return '';
	if (typeof cell === 'string') return cell.trim();
	return typeof cell === 'number' ? String(cell) : undefined;
}

/** The row as the service takes it: phone, name and the columns that ride along. */
export function toContact(row: Row, columns: Columns, phone: string): Contact {
	const contact: Contact = { phone };
	const name = personNameOf(row, columns);
	if (name) contact.person_name = name;
	if (columns.others === 'none') return contact;
	if (columns.others === 'all') {
		for (const column in row) addVariable(contact, row, column, columns.reserved);
	} else {
		for (const column of columns.others) addVariable(contact, row, column, columns.reserved);
	}
	return contact;
}

function addVariable(
	contact: Contact,
	row: Row,
	column: string,
	reserved: ReadonlySet<string>,
): void {
	if (reserved.has(column) || !Object.hasOwn(row, column)) return;
	const value = toJson(row[column]);
	if (value === undefined) return;
	if (column === '__proto__') {
		// Plain assignment would change the contact's prototype instead of adding the column.
		Object.defineProperty(contact, column, { value, enumerable: true });
	} else {
		contact[column] = value;
	}
}
