import { ServiceRefusal, type ExplainedError } from '../../shared/api/errors';
import { isMobile } from '../../shared/phone/india';
import type { ByRow } from './byRow';
import type { UnsentRow } from './feed';

/** What the service calls its first contact: the document leaves open whether it counts from 0 or from 1. */
export type FirstIndex = 0 | 1;

/** Statuses documented for validation; at any other a refusal is no word about single rows. */
const VALIDATION_STATUSES = new Set([400, 422]);
const CONTACT_INDEX = /\bcontacts\s*\[\s*(\d+)\s*\]/gi;

/** Whether the refusal is about the contacts of the request, and so none of them was taken. */
export function isAboutContacts(error: ExplainedError): error is ServiceRefusal {
	return error instanceof ServiceRefusal && VALIDATION_STATUSES.has(error.status);
}

/** Each index that a refusal names as `contacts[<index>]`, with the service's words about it. */
export function namedIndexes(error: ExplainedError): Map<number, string> {
	const named = new Map<number, string>();
	if (!isAboutContacts(error)) return named;
	for (const text of error.refusal.texts) {
		for (const [, index] of text.matchAll(CONTACT_INDEX)) {
			if (!named.has(Number(index))) named.set(Number(index), text);
		}
	}
	return named;
}

/** What the indexes themselves tell: nothing but 0 has a 0, and nothing but 1 the number of contacts. */
export function firstIndexShown(
	named: ReadonlyMap<number, string>,
	contacts: number,
): FirstIndex | undefined {
	if (named.has(0)) return 0;
	return named.has(contacts) ? 1 : undefined;
}

/** A row that is sent alone to find out: `ifTaken` is what the service counts from when it accepts it. */
export type Probe = { row: number; ifTaken: FirstIndex };

/**
 * Of the rows that are meant only under one of both readings, one for either: the last that is named
 * from 0, and the first that is named from 1. The doubtful one is taken, since a refusal leaves nothing
 * behind in the campaign.
 */
export function probeFor(
	named: ReadonlyMap<number, string>,
	rows: readonly number[],
	keys: ByRow<string>,
): Probe | undefined {
	const fromZero = rows[Math.max(...named.keys())];
	const fromOne = rows[Math.min(...named.keys()) - 1];
	if (fromOne === undefined) return undefined;
	const isDoubtful = (row: number) => !isMobile(keys.at(row) ?? '');
	return fromZero !== undefined && isDoubtful(fromZero) && !isDoubtful(fromOne)
		? { row: fromZero, ifTaken: 1 }
		: { row: fromOne, ifTaken: 0 };
}

/** The rows that are meant: none as long as it is open which, and none by an index beyond the request. */
export function rejectedRows(
	named: ReadonlyMap<number, string>,
	rows: readonly number[],
	firstIndex: FirstIndex | undefined,
): UnsentRow[] {
	if (firstIndex === undefined) return [];
	return [...named].flatMap(([position, text]) => {
		const index = rows[position - firstIndex];
		return index === undefined ? [] : [rejected(index, text)];
	});
}

export function rejected(index: number, text: string): UnsentRow {
	return {
		index,
		status: 'rejected',
		reason: `The service does not accept this row. It said: ${text}`,
	};
}
