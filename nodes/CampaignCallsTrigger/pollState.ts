import mapValues from 'lodash/mapValues';
import pickBy from 'lodash/pickBy';
import { OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';
import { plainText } from '../shared/values';

/** The most fingerprints to remember. They take 2.7 MB in n8n's database. */
const MAX_FINGERPRINTS = 250_000;

const BYTES = BigUint64Array.BYTES_PER_ELEMENT;

/** A contact list as it was read last. */
type KnownList = {
	/** Epoch milliseconds. */
	readAt: number;
	/** How many calls it has. */
	calls: number;
	/** Its queues in the campaign status, if it's completed and all its calls have ended. */
	endedQueues?: string;
};

/**
 * - `passed`: it has started the workflow, and never does again.
 * - `tooEarly`: it ended before the first reading, or was created too early.
 * - `excluded`: the filters excluded it.
 */
const SEEN = ['passed', 'tooEarly', 'excluded'] as const;
type Seen = (typeof SEEN)[number];

/** What the trigger remembers between polls. */
export type PollState = {
	/** Whether there was a first reading. */
	hasBegun: boolean;
	/** Calls that were created earlier never start the workflow. -Infinity for those that ended before the first reading. */
	from: number;
	/** By fingerprint of a call or an outcome. */
	seen: Map<bigint, Seen>;
	/** By `campaign_upload_id`. */
	lists: Map<string, KnownList>;
	/** The attempts of the campaign that its lists don't show. Negative if calls were placed between the two readings. */
	unlistedAttempts: number;
	/** Creation time of the last call that was read, if a poll left calls for the next one, which continues after it. */
	reachedAt: number;
};

/** `subject`: whose calls are checked. `start`: which of them are new. `filters`: which of these are wanted. */
export type Subject = { subject: string; start: string; filters: string };

/** Whether {@link storedState} returned it for this subject and start. */
export function isStateOf({ subject, start }: Subject, stored: unknown): boolean {
	return isJsonObject(stored) && stored.subject === subject && stored.start === start;
}

/**
 * Restores what {@link storedState} returned. No outcome starts the workflow twice, also if the subject, the start, or the
 * filters have changed. What didn't start it is kept only as long as the reason stays the same.
 */
export function restoreState(stored: unknown, { subject, start, filters }: Subject): PollState {
	const known = isJsonObject(stored) ? stored : {};
	const isSame = known.subject === subject && known.start === start;
	const areSameFilters = isSame && known.filters === filters;
	const { hasBegun, from, unlistedAttempts, reachedAt } = isSame ? known : {};
	const { lists } = areSameFilters ? known : {};
	const isKept = { passed: true, tooEarly: isSame, excluded: areSameFilters };
	return {
		hasBegun: hasBegun === true,
		from: typeof from === 'number' ? from : -Infinity,
		seen: new Map(
			SEEN.filter((why) => isKept[why]).flatMap((why) =>
				fingerprintsFromText(plainText(known[why])).map((one) => [one, why] as const),
			),
		),
		lists: new Map(Object.entries(isJsonObject(lists) ? pickBy(lists, isKnownList) : {})),
		unlistedAttempts: typeof unlistedAttempts === 'number' ? unlistedAttempts : 0,
		reachedAt: typeof reachedAt === 'number' ? reachedAt : -Infinity,
	};
}

/** @throws OutcomeUnknown if there are too many outcomes */
export function storedState(state: PollState, subject: Subject): JsonObject {
	const { seen, lists, ...others } = state;
	if (seen.size > MAX_FINGERPRINTS) {
		throw new OutcomeUnknown(
			`The trigger can't remember more than ${MAX_FINGERPRINTS.toLocaleString('en-US')} outcomes of calls`,
			onScreenOnly('Choose fewer calls, such as those of a new campaign.'),
		);
	}
	const byReason: Record<Seen, bigint[]> = { passed: [], tooEarly: [], excluded: [] };
	for (const [one, why] of seen) byReason[why].push(one);
	return {
		...subject,
		...mapValues(byReason, textOfFingerprints),
		lists: Object.fromEntries(lists),
		...others,
	};
}

/** As base64, with 8 bytes each. */
function textOfFingerprints(fingerprints: readonly bigint[]): string {
	return Buffer.from(BigUint64Array.from(fingerprints).buffer).toString('base64');
}

function isKnownList(list: JsonValue): list is KnownList {
	return isJsonObject(list) && typeof list.readAt === 'number' && typeof list.calls === 'number';
}

function fingerprintsFromText(text: string): bigint[] {
	const bytes = Buffer.from(text, 'base64');
	const fingerprints: bigint[] = [];
	for (let offset = 0; offset + BYTES <= bytes.length; offset += BYTES) {
		fingerprints.push(bytes.readBigUInt64LE(offset));
	}
	return fingerprints;
}
