import mapValues from 'lodash/mapValues';
import sumBy from 'lodash/sumBy';
import { unusable } from '../core/service/errors';
import { isJsonObject, type JsonObject, type JsonValue, numberIn } from '../core/values/json';

/** The most outcomes to remember, up to two for each call. They take 3.3 MB in n8n's database. */
const MAX_OUTCOMES = 250_000;

/** Of these, the most that are kept of calls that were checked before others were chosen. */
const MAX_FORMER = MAX_OUTCOMES / 2;

/** What the trigger remembers between polls. */
export type PollState = {
	/** Whether there was a first poll. */
	hasBegun: boolean;
	/** Calls that were created earlier never start the workflow. Epoch milliseconds. */
	from: number;
	/** Creation time of the latest call that was read, if a poll left calls for the next one, which continues after it. */
	reachedAt: number;
	seen: SeenOutcomes;
};

/** Outcomes of calls. `passed` is kept, whatever the user changes, so that none starts the workflow twice. */
type SeenOutcomes = {
	/** They have started the workflow. */
	passed: Set<string>;
	/** They never start it, because they ended before the first poll, or the filters excluded them. */
	ignored: Set<string>;
};

/** What a state belongs to: whose calls are checked, and which of them are new. */
export type Scope = { subject: string; start: string };

/**
 * Restores what {@link storedState} returned. Another subject or start begins again, but knows what has started the
 * workflow.
 */
export function restoreState(stored: unknown, { subject, start }: Scope): PollState {
	const known = isJsonObject(stored) ? stored : {};
	const isSameSubject = known.subject === subject;
	const begun = isSameSubject && known.start === start ? known : {};
	const passed = outcomesIn(known.passed);
	return {
		hasBegun: 'from' in begun,
		from: numberIn(begun.from) ?? 0,
		reachedAt: numberIn(begun.reachedAt) ?? 0,
		seen: {
			passed: new Set(isSameSubject ? passed : passed.slice(-MAX_FORMER)),
			ignored: new Set(outcomesIn(begun.ignored)),
		},
	};
}

/** @throws OutcomeUnknown if there are too many outcomes */
export function storedState({ from, reachedAt, seen }: PollState, scope: Scope): JsonObject {
	if (sumBy(Object.values(seen), 'size') > MAX_OUTCOMES) {
		throw unusable(
			"The trigger can't remember the outcomes of more calls",
			'Choose fewer calls, such as those of a new campaign.',
		);
	}
	// One text, because n8n observes each entry of a list.
	return { ...scope, from, reachedAt, ...mapValues(seen, (outcomes) => [...outcomes].join(' ')) };
}

function outcomesIn(text: JsonValue | undefined): string[] {
	return typeof text === 'string' && text !== '' ? text.split(' ') : [];
}
