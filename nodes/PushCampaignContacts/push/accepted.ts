import groupBy from 'lodash/groupBy';
import uniq from 'lodash/uniq';
import { OutcomeUnknown } from '../../core/service/errors';
import {
	fieldsIn,
	isJsonObject,
	MAX_VALUES,
	numberIn,
	type JsonObject,
	type JsonValue,
	valuesIn,
} from '../../core/values/json';
import { phoneKey } from '../../core/phone/callPhone';
import { counted, isUnset, plainText } from '../../core/values/values';
import { phoneKeyOf, type PushedRequest, type Row, type Status } from './rows';

/** What the response to an accepted request says about its rows. */
export type Accepted = {
	request: PushedRequest;
	/** Rows that the service won't call. */
	skipped: Array<{ row: Row; status: Status; reason: string }>;
};

/** Campaigns accept Indian numbers only. */
const COUNTRY = 'IN';

const NUMBER_IN_TEXT = /\+?\d{10,15}/g;

const SKIPPED_LISTS = [
	{
		field: 'dnd_skipped',
		status: 'do_not_disturb',
		reason:
			'The service skipped this row, because its number is on the do-not-disturb list of the agent.',
	},
	{
		field: 'engine_skipped_duplicates',
		status: 'duplicate',
		reason: 'The service skipped this number as a duplicate.',
	},
] as const satisfies ReadonlyArray<{ field: string; status: Status; reason: string }>;

/** Splits the rows of an accepted request into those that can be called and those that were skipped. */
export function readAccepted(rows: readonly Row[], response: JsonObject): Accepted {
	const skipped = new Map<Row, Accepted['skipped'][number]>();
	const unmatched: JsonValue[] = [];
	let rowsWith: Map<string, Row[]> | undefined;
	for (const { field, status, reason } of SKIPPED_LISTS) {
		const list = response[field];
		if (!Array.isArray(list) || list.length === 0) continue;
		rowsWith ??= new Map(Object.entries(groupBy(rows, phoneKeyOf)));
		for (const entry of list) {
			const key = keyIn(entry, rowsWith);
			if (key === undefined) {
				unmatched.push(entry);
				continue;
			}
			for (const row of rowsWith.get(key) ?? []) skipped.set(row, { row, status, reason });
			// The first entry about a number decides.
			rowsWith.set(key, []);
		}
	}
	const callable = skipped.size === 0 ? rows : rows.filter((row) => !skipped.has(row));
	return {
		request: { rows: callable, response, unmatched },
		skipped: [...skipped.values()],
	};
}

/** The names of a phone number in the document. */
const PHONE_FIELDS = ['phone', 'phone_number'];

/**
 * The number of the request that an entry is about, wherever it has it. Undefined if that isn't certain: the entry has two
 * of them, it hides digits of a number, or its phone is that of another request. Then another number in it may be that of
 * the person who added the entry.
 *
 * @param sent by the key of each number of the request
 */
function keyIn(entry: JsonValue, sent: ReadonlyMap<string, unknown>): string | undefined {
	const texts = textsIn(entry);
	const [key, ...others] = uniq(texts.flatMap(keysOf)).filter((found) => sent.has(found));
	if (key === undefined || others.length > 0) return undefined;
	for (const phone of fieldsIn(entry, PHONE_FIELDS)) {
		if (phone !== null && !textsIn(phone).flatMap(keysOf).includes(key)) return undefined;
	}
	return key;
}

/** The texts, numbers, and names of fields in an entry, at any depth. Its shape isn't documented. */
function textsIn(entry: JsonValue): string[] {
	return [...valuesIn(entry, MAX_VALUES)].flatMap((value) =>
		isJsonObject(value) ? Object.keys(value) : plainText(value),
	);
}

function keysOf(text: string): string[] {
	const written = [text, ...(text.match(NUMBER_IN_TEXT) ?? [])];
	return written.flatMap((each) => phoneKey(each, COUNTRY) ?? []);
}

/** The counts of a response. */
export const COUNTS = [
	'contacts_received',
	'contacts_accepted',
	'duplicates_removed',
	'queued_calls',
] as const;

/**
 * Compares the counts in a response with the rows of its request. The document doesn't say whether the received and
 * accepted contacts include duplicates and skipped ones. So only two cases are a contradiction: more contacts than were
 * sent, or a contact that was neither counted, removed as a duplicate, nor skipped. `queued_calls` isn't limited,
 * because the document doesn't say what it counts.
 *
 * @param sent the number of rows
 * @throws OutcomeUnknown if the counts contradict the request, so that nobody knows which rows are in the campaign
 */
export function requireConsistentCounts({ request, skipped }: Accepted, sent: number): void {
	const { response, unmatched } = request;
	const given = COUNTS.slice(0, 3).filter((name) => !isUnset(response[name]));
	// NaN, which is neither more nor less, if a count isn't a number.
	const countIn = (name: (typeof COUNTS)[number], missing: number) =>
		given.includes(name) ? (numberIn(response[name]) ?? NaN) : missing;
	const received = countIn('contacts_received', sent);
	const accepted = countIn('contacts_accepted', received);
	const duplicates = countIn('duplicates_removed', 0);
	const left = skipped.length + unmatched.length;
	const areNotMore = accepted <= received && received <= sent && duplicates <= sent;
	// `received` is at least `accepted`, so it fits too.
	const areAll = accepted + duplicates + left >= sent;
	// If the campaign got no contact, each row must be named as skipped.
	const mayBePushed = accepted + duplicates > 0 || skipped.length === sent;
	if (areNotMore && areAll && mayBePushed) return;
	const shown = given.map((name) => `${name}: ${JSON.stringify(response[name])}`);
	throw new OutcomeUnknown(
		`The response doesn't account for all contacts: the request had ${counted(sent, 'contact')}, the response has ${[...shown, `skipped: ${left}`].join(', ')}. It's unknown which contacts are in the campaign`,
		"They weren't sent again. Before you push them again, compare the contact lists of the campaign with your rows.",
	);
}
