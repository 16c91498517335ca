import uniq from 'lodash/uniq';
import { ServiceRejection, type ExplainedError } from '../../shared/api/errors';

/** The documented statuses of validation errors. A rejection with another status isn't about single rows. */
const VALIDATION_STATUSES = new Set([400, 422]);
/** Ignores nested ones: `contacts[3].contacts[0]` names a field of a contact. */
const CONTACT_INDEX = /(?<!\]\.)\bcontacts\s*\[\s*(\d+)\s*\]/gi;
const MAX_REASON_CHARACTERS = 1_000;

/** Whether the rejection is about contacts, so that the service accepted none of them. */
export function isAboutContacts(error: ExplainedError): error is ServiceRejection {
	return error instanceof ServiceRejection && VALIDATION_STATUSES.has(error.status);
}

/**
 * The rows that a rejection may name as `contacts[<index>]`. The document doesn't say whether the service counts from 0 or
 * 1, so an index can mean two rows. The service may also quote the text of a cell. So each of these rows must be sent alone.
 *
 * @param rows of the request
 */
export function rowsNamedIn(error: ExplainedError, rows: readonly number[]): number[] {
	if (!isAboutContacts(error)) return [];
	const text = error.rejection.texts.join('\n');
	const indexes = uniq([...text.matchAll(CONTACT_INDEX)].map(([, index]) => Number(index)));
	const positions = indexes.flatMap((index) => [index, index - 1]);
	return uniq(positions.flatMap((position) => rows[position] ?? [])).sort((a, b) => a - b);
}

/** The reason of a row that the service rejected when it was sent alone. */
export function rejectedRow(error: ExplainedError): string {
	const text = isAboutContacts(error) ? error.rejection.texts.join(' · ') : error.message;
	const shown =
		text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}...` : text;
	return `The service rejected this row: ${shown}`;
}
