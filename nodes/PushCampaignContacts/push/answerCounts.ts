import { OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone } from '../../shared/api/modelAdvice';
import { numberIn, type JsonObject } from '../../shared/json';
import { plainText } from '../../shared/values';
import type { ByRow } from './phoneArrays';
import { skippedRows } from './skippedRows';

const COUNTS = [
	'contacts_received',
	'contacts_accepted',
	'duplicates_removed',
	'queued_calls',
] as const;
const MAX_SHOWN_CHARACTERS = 40;

/**
 * Compares the counts of a response with the rows of its request. The document leaves open whether duplicates and
 * skipped contacts are among the received and the accepted ones. So only what no reading allows is a contradiction:
 * more contacts than were sent, or a contact that was neither counted nor removed as a duplicate nor skipped.
 * `queued_calls` has no bound, because what it covers isn't documented.
 *
 * @param keys by row, what makes a number the same person's in every form
 * @throws OutcomeUnknown if they contradict: which rows are in the campaign is unknown
 */
export function requireFittingCounts(
	answer: JsonObject,
	rows: readonly number[],
	keys: ByRow<string>,
): void {
	const sent = rows.length;
	const {
		contacts_received: received = sent,
		contacts_accepted: accepted = received,
		duplicates_removed: duplicates = 0,
		queued_calls: queued = 0,
	} = countsIn(answer);
	const { rows: named, unmatched } = skippedRows(answer, rows, keys);
	const skipped = named.length + unmatched.length;
	const areCounts = [received, accepted, duplicates, queued].every(
		(count) => Number.isInteger(count) && count >= 0,
	);
	const areNotMore = accepted <= received && received <= sent && duplicates <= sent;
	// As `accepted` is not more than `received`, that one fits as well.
	const areAll = accepted + duplicates + skipped >= sent;
	// If nothing is in the campaign, no row is: not even one that no skipped entry names.
	const mayBePushed = accepted + duplicates > 0 || named.length === sent;
	if (areCounts && areNotMore && areAll && mayBePushed) return;
	throw contradiction(answer, sent, skipped);
}

/** Those that are given; what can't be read as a number is not one. */
function countsIn(answer: JsonObject): { [name in (typeof COUNTS)[number]]?: number } {
	return Object.fromEntries(
		givenIn(answer).map((name) => [name, numberIn(answer[name]) ?? NaN] as const),
	);
}

function givenIn(answer: JsonObject): Array<(typeof COUNTS)[number]> {
	return COUNTS.filter((name) => answer[name] !== undefined && answer[name] !== null);
}

function contradiction(answer: JsonObject, sent: number, skipped: number): OutcomeUnknown {
	const contacts =
		sent === 1 ? '1 contact that was' : `${sent.toLocaleString('en-US')} contacts that were`;
	const counts = givenIn(answer).map(
		(name) => `${name}: ${JSON.stringify(answer[name]).slice(0, MAX_SHOWN_CHARACTERS)}`,
	);
	const shown = [...counts, ...(skipped > 0 ? [`skipped: ${skipped}`] : [])].join(', ');
	const list = plainText(answer.campaign_upload_id).slice(0, MAX_SHOWN_CHARACTERS);
	const where = list === '' ? 'the newest contact list' : `contact list ${list}`;
	return new OutcomeUnknown(
		`The counts in the response don't fit the ${contacts} sent (${shown}), so it is not known which of them are in the campaign`,
		forEveryone(
			`They were not sent a second time. Compare ${where} of the campaign with your rows before you push them again.`,
		),
		undefined,
		undefined,
		'service',
	);
}
