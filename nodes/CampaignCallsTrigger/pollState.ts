import mapValues from 'lodash/mapValues';
import pickBy from 'lodash/pickBy';
import sumBy from 'lodash/sumBy';
import { unusable } from '../core/service/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/values/json';

/** The most fingerprints to remember, up to two for each outcome. They take 2.7 MB in n8n's database. */
const MAX_FINGERPRINTS = 250_000;

/** Of these, the most that are kept of calls that were checked before others were chosen. */
const MAX_FORMER = MAX_FINGERPRINTS / 2;

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
	/** Fingerprints of outcomes. */
	seen: SeenOutcomes;
	/** By `campaign_upload_id`. */
	lists: Map<string, KnownList>;
	/** The attempts of the campaign that its lists don't show. Negative if calls were placed between the two readings. */
	unlistedAttempts: number;
	/** Creation time of the last call that was read, if a poll left calls for the next one, which continues after it. */
	reachedAt: number;
};

/** `passed` is kept, whatever the user changes, so that no outcome starts the workflow twice. */
export type SeenOutcomes = {
	/** They have started the workflow. */
	passed: Set<bigint>;
	/** They ended before the first reading, and never start the workflow. */
	endedBefore: Set<bigint>;
	/** Of calls that showed no end in the first reading. So their status, which may count as one later, isn't new. */
	notEndedBefore: Set<bigint>;
	/** They don't start the workflow with these settings. */
	excluded: Set<bigint>;
};

/** What a state belongs to. */
export type Scope = {
	/** Whose calls are checked. */
	subject: string;
	/** Which of them are new. */
	start: string;
	/** Which of the new ones start the workflow. */
	settings: string;
};

/**
 * Restores what {@link storedState} returned. Another subject or start begins again, but knows what has started the
 * workflow. With other settings, excluded calls are checked again.
 */
export function restoreState(stored: unknown, scope: Scope): PollState {
	const known = isJsonObject(stored) ? stored : {};
	const isSameSubject = known.subject === scope.subject;
	const begun = isSameSubject && known.start === scope.start ? known : {};
	const { hasBegun, from } = begun;
	const current = begun.settings === scope.settings ? begun : {};
	const { lists, unlistedAttempts, reachedAt } = current;
	const passed = fingerprintsIn(known.passed);
	return {
		hasBegun: hasBegun === true,
		from: typeof from === 'number' ? from : -Infinity,
		seen: {
			passed: new Set(isSameSubject ? passed : passed.slice(-MAX_FORMER)),
			endedBefore: new Set(fingerprintsIn(begun.endedBefore)),
			notEndedBefore: new Set(fingerprintsIn(begun.notEndedBefore)),
			excluded: new Set(fingerprintsIn(current.excluded)),
		},
		lists: new Map(Object.entries(isJsonObject(lists) ? pickBy(lists, isKnownList) : {})),
		unlistedAttempts: typeof unlistedAttempts === 'number' ? unlistedAttempts : 0,
		reachedAt: typeof reachedAt === 'number' ? reachedAt : -Infinity,
	};
}

/** @throws OutcomeUnknown if there are too many outcomes */
export function storedState(state: PollState, scope: Scope): JsonObject {
	const { seen, lists, ...others } = state;
	if (sumBy(Object.values(seen), 'size') > MAX_FINGERPRINTS) {
		throw unusable(
			"The trigger can't remember the outcomes of more calls",
			'Choose fewer calls, such as those of a new campaign.',
		);
	}
	return {
		...scope,
		...mapValues(seen, base64Of),
		lists: Object.fromEntries(lists),
		...others,
	};
}

function isKnownList(list: JsonValue): list is KnownList {
	return isJsonObject(list) && typeof list.readAt === 'number' && typeof list.calls === 'number';
}

/** As base64, with 8 bytes each. */
function base64Of(fingerprints: ReadonlySet<bigint>): string {
	return Buffer.from(BigUint64Array.from(fingerprints).buffer).toString('base64');
}

function fingerprintsIn(text: JsonValue | undefined): bigint[] {
	const bytes = Uint8Array.from(Buffer.from(typeof text === 'string' ? text : '', 'base64'));
	return [...new BigUint64Array(bytes.buffer, 0, Math.floor(bytes.length / BYTES))];
}
