import pickBy from 'lodash/pickBy';
import { OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';

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

/** What the trigger remembers between polls. */
export type PollState = {
	/** Whether there was a first reading. */
	hasBegun: boolean;
	/** Calls that were created earlier never start the workflow. -Infinity for those that ended before the first reading. */
	from: number;
	/** Fingerprints of the outcomes that have started the workflow, or never do. */
	seen: Set<bigint>;
	/** By `campaign_upload_id`. */
	lists: Map<string, KnownList>;
	/** The attempts of the campaign that its lists don't show. Negative if calls were placed between the two readings. */
	unlistedAttempts: number;
	/** Creation time of the last call that was read, if a poll left calls for the next one, which continues after it. */
	reachedAt: number;
};

/** `subject`: whose calls are checked. `start`: which of them are new. */
export type Subject = { subject: string; start: string };

/** Whether {@link storedState} returned it for this subject and start. */
export function isStateOf({ subject, start }: Subject, stored: unknown): boolean {
	return isJsonObject(stored) && stored.subject === subject && stored.start === start;
}

/**
 * Restores what {@link storedState} returned. Another subject begins with an empty state. Another start keeps only the
 * outcomes, so that none starts the workflow twice.
 */
export function restoreState(stored: unknown, { subject, start }: Subject): PollState {
	const known = isJsonObject(stored) && stored.subject === subject ? stored : {};
	const { seen } = known;
	const { hasBegun, from, lists, unlistedAttempts, reachedAt } = known.start === start ? known : {};
	return {
		hasBegun: hasBegun === true,
		from: typeof from === 'number' ? from : -Infinity,
		seen: fingerprintsFromText(typeof seen === 'string' ? seen : ''),
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
	// As base64, with 8 bytes each.
	const text = Buffer.from(BigUint64Array.from(seen).buffer).toString('base64');
	return { ...subject, seen: text, lists: Object.fromEntries(lists), ...others };
}

function isKnownList(list: JsonValue): list is KnownList {
	return isJsonObject(list) && typeof list.readAt === 'number' && typeof list.calls === 'number';
}

function fingerprintsFromText(text: string): Set<bigint> {
	const bytes = Buffer.from(text, 'base64');
	const fingerprints = new Set<bigint>();
	for (let offset = 0; offset + BYTES <= bytes.length; offset += BYTES) {
		fingerprints.add(bytes.readBigUInt64LE(offset));
	}
	return fingerprints;
}
