import sortBy from 'lodash/sortBy';
import uniq from 'lodash/uniq';
import { type ExplainedError, InvalidInput, ServiceRejection } from '../../core/service/errors';
import { VALIDATION_STATUSES } from '../../core/service/http';
import { onScreenOnly } from '../../core/service/resolution';
import type { Part, PartResult } from './parts';
import type { Row } from './rows';

/**
 * Rows per chunk that are sent alone. A message of the service can mean two rows, so about half of them are rejected. If
 * there are more, the cause is probably a setting, not the rows.
 */
const MAX_ROWS_SENT_ALONE = 200;
const PAYLOAD_TOO_LARGE = 413;
/** Ignores nested ones: `contacts[3].contacts[0]` names a field of a contact. */
const CONTACT_INDEX = /(?<!\]\.)\bcontacts\s*\[\s*(\d+)\s*\]/gi;
const MAX_REASON_CHARACTERS = 1_000;

/**
 * What a rejection means for the rows of its request. Rows that it may have named are sent alone, and then the others. If the
 * request was too large, its halves are sent.
 *
 * @param rows of the part that were sent
 * @returns undefined if it isn't about single rows, so that the push must stop
 */
export function readRejection(
	error: ExplainedError,
	part: Part,
	rows: readonly Row[],
): Exclude<PartResult, { kind: 'accepted' }> | undefined {
	const isTooLarge = error instanceof ServiceRejection && error.status === PAYLOAD_TOO_LARGE;
	const named = rowsNamedIn(error, rows);
	const areNamed = named.length > 0 || (part.isAlone && isAboutContacts(error));
	if (!isTooLarge && !areNamed) return undefined;
	if (rows.length === 1)
		return {
			kind: 'rejected',
			reason: isTooLarge ? reasonOfTooLarge(error) : rejectionReason(error),
		};
	const positions = new Map(part.rows.map((row, at) => [row, at]));
	return { kind: 'split', alone: isTooLarge ? [] : named.map((row) => positions.get(row) ?? 0) };
}

/** Why the push stops although each rejection named its rows. Undefined if it goes on. */
export function tooManyRejected(
	{ originalMessage }: ExplainedError,
	sentAlone: number,
): ExplainedError | undefined {
	if (sentAlone <= MAX_ROWS_SENT_ALONE) return undefined;
	return new InvalidInput(
		`The service may reject more than ${MAX_ROWS_SENT_ALONE} rows of one request, so the remaining rows weren't sent`,
		onScreenOnly("The rows probably have the same fault, such as a wrong 'Phone Column'."),
		{ originalMessage },
	);
}

function reasonOfTooLarge({ originalMessage }: ExplainedError): string {
	const said = originalMessage === undefined ? '' : ` The service said: ${originalMessage}`;
	return `The row is too large for the service, even in a request of its own. Shorten its texts, or send fewer of them.${said}`;
}

/**
 * Whether the rejection is about contacts, so that the service accepted none of them. A rejection with another status isn't
 * about single rows.
 */
function isAboutContacts(error: ExplainedError): error is ServiceRejection {
	return error instanceof ServiceRejection && VALIDATION_STATUSES.has(error.status);
}

/**
 * The rows that a rejection may name as `contacts[<index>]`. The document doesn't say whether the service counts from 0 or
 * 1, so an index can mean two rows. The service may also quote the text of a cell. So each of these rows must be sent alone.
 *
 * @param rows of the request
 */
export function rowsNamedIn(error: ExplainedError, rows: readonly Row[]): Row[] {
	if (!isAboutContacts(error)) return [];
	const text = error.rejection.texts.join('\n');
	const indexes = uniq([...text.matchAll(CONTACT_INDEX)].map(([, index]) => Number(index)));
	const positions = indexes.flatMap((index) => [index, index - 1]);
	return sortBy(uniq(positions.flatMap((position) => rows[position] ?? [])), 'index');
}

/** The reason of a row that the service rejected when it was sent alone. */
function rejectionReason(error: ExplainedError): string {
	const text = isAboutContacts(error) ? error.rejection.texts.join(' · ') : error.message;
	const shown =
		text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}...` : text;
	return `The service rejected this row: ${shown}`;
}
