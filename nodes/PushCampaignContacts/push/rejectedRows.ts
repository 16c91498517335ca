import chunk from 'lodash/chunk';
import difference from 'lodash/difference';
import sortBy from 'lodash/sortBy';
import uniq from 'lodash/uniq';
import { type ExplainedError, InvalidInput, ServiceRejection } from '../../core/service/errors';
import { VALIDATION_STATUSES } from '../../core/service/http';
import { onScreenOnly } from '../../core/service/resolution';
import type { Row } from './rows';

/**
 * Rows per chunk that are sent alone. A message of the service can mean two rows, so about half of them are rejected. If
 * there are more, the cause is probably a setting, not the rows.
 */
export const MAX_ROWS_SENT_ALONE = 200;
const PAYLOAD_TOO_LARGE = 413;
/** Ignores nested ones: `contacts[3].contacts[0]` names a field of a contact. */
const CONTACT_INDEX = /(?<!\]\.)\bcontacts\s*\[\s*(\d+)\s*\]/gi;
const MAX_REASON_CHARACTERS = 1_000;

/** Why the push stops, and the rows that weren't sent then, in order. All others are in the outcome. */
export type Sent = { stopped?: ExplainedError; rest: readonly Row[] };

/**
 * Sends rows, usually in one request. Rows that a rejection may have named are sent alone, and then the others. If a request
 * is too large, its halves are sent.
 *
 * @param request sends rows in one request. Returns why they weren't accepted. If that's unknown, they are in the outcome.
 * @param reject adds a row to the outcome that the service rejected
 */
export async function sendInParts(
	rows: readonly Row[],
	request: (part: readonly Row[]) => Promise<ExplainedError | undefined>,
	reject: (row: Row, reason: string) => void,
): Promise<Sent> {
	const sentAlone = new Set<Row>();
	const parts = [rows];
	for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
		const error = await request(part);
		if (error === undefined) continue;
		if (error.outcome === 'unknown') return stop(error, parts);
		const isTooLarge = error instanceof ServiceRejection && error.status === PAYLOAD_TOO_LARGE;
		const named = rowsNamedIn(error, part);
		const [row] = part;
		if (row === undefined) continue;
		const isAlone = part.length === 1 && sentAlone.has(row);
		const areNamed = named.length > 0 || (isAlone && isAboutContacts(error));
		if (!isTooLarge && !areNamed) return stop(error, [part, ...parts]);
		if (part.length === 1) {
			sentAlone.add(row);
			reject(row, isTooLarge ? reasonOfTooLarge(error) : rejectionReason(error));
		} else if (isTooLarge) {
			parts.unshift(...chunk(part, Math.ceil(part.length / 2)));
		} else {
			for (const each of named) sentAlone.add(each);
			parts.unshift(...chunk(named, 1), ...chunk(difference(part, named), Infinity));
		}
		const areTooMany = sentAlone.size > MAX_ROWS_SENT_ALONE && parts.length > 0;
		if (areTooMany) return stop(tooManyRejected(error), parts);
	}
	return { rest: [] };
}

function stop(stopped: ExplainedError, parts: ReadonlyArray<readonly Row[]>): Sent {
	return { stopped, rest: sortBy(parts.flat(), 'index') };
}

function tooManyRejected({ originalMessage }: ExplainedError): ExplainedError {
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
