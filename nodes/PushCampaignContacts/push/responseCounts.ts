import { OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone } from '../../shared/api/resolution';
import { numberIn, type JsonObject } from '../../shared/json';
import { plainText } from '../../shared/values';
import type { ByRow } from './phones';
import { skippedRows } from './skippedRows';

const COUNTS = [
	'contacts_received',
	'contacts_accepted',
	'duplicates_removed',
	'queued_calls',
] as const;
const MAX_SHOWN_CHARACTERS = 40;

/**
 * Compares the counts in a response with the rows of its request. The document doesn't say whether the received and
 * accepted contacts include duplicates and skipped ones. So only two cases are a contradiction: more contacts than were
 * sent, or a contact that was neither counted, removed as a duplicate, nor skipped. `queued_calls` isn't limited,
 * because the document doesn't say what it counts.
 *
 * @param keys by row, a key that is equal for equal numbers in any format
 * @throws OutcomeUnknown if the counts contradict the request, so that nobody knows which rows are in the campaign
 */
export function requireConsistentCounts(
	response: JsonObject,
	rows: readonly number[],
	keys: ByRow<string>,
): void {
	const sent = rows.length;
	const {
		contacts_received: received = sent,
		contacts_accepted: accepted = received,
		duplicates_removed: duplicates = 0,
		queued_calls: queued = 0,
	} = countsIn(response);
	const { rows: named, unmatched } = skippedRows(response, rows, keys);
	const skipped = named.length + unmatched.length;
	const areCounts = [received, accepted, duplicates, queued].every(
		(count) => Number.isInteger(count) && count >= 0,
	);
	const areNotMore = accepted <= received && received <= sent && duplicates <= sent;
	// `received` is at least `accepted`, so it fits too.
	const areAll = accepted + duplicates + skipped >= sent;
	// If the campaign got no contact, each row must be named as skipped.
	const mayBePushed = accepted + duplicates > 0 || named.length === sent;
	if (areCounts && areNotMore && areAll && mayBePushed) return;
	throw contradiction(response, sent, skipped);
}

/** The counts in the response. NaN if a count isn't a number. */
function countsIn(response: JsonObject): { [name in (typeof COUNTS)[number]]?: number } {
	return Object.fromEntries(
		givenIn(response).map((name) => [name, numberIn(response[name]) ?? NaN] as const),
	);
}

function givenIn(response: JsonObject): Array<(typeof COUNTS)[number]> {
	return COUNTS.filter((name) => response[name] !== undefined && response[name] !== null);
}

function contradiction(response: JsonObject, sent: number, skipped: number): OutcomeUnknown {
	const contacts = sent === 1 ? '1 contact' : `${sent.toLocaleString('en-US')} contacts`;
	const counts = givenIn(response).map(
		(name) => `${name}: ${JSON.stringify(response[name]).slice(0, MAX_SHOWN_CHARACTERS)}`,
	);
	const shown = [...counts, ...(skipped > 0 ? [`skipped: ${skipped}`] : [])].join(', ');
	const list = plainText(response.campaign_upload_id).slice(0, MAX_SHOWN_CHARACTERS);
	const where = list === '' ? 'the newest contact list' : `contact list ${list}`;
	return new OutcomeUnknown(
		`The response doesn't account for all contacts: the request had ${contacts}, the response has ${shown}. It's unknown which contacts are in the campaign`,
		forEveryone(
			`They weren't sent again. Before you push them again, compare ${where} of the campaign with your rows.`,
		),
		undefined,
		undefined,
		'service',
	);
}
