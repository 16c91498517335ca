import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { InvalidInput, OutcomeUnknown } from '../core/service/errors';
import { fingerprint } from '../core/values/hash';
import type { JsonObject } from '../core/values/json';
import { clock } from '../host/clock';
import { toNodeError } from '../host/http/nodeErrors';
import { nodeKey } from '../host/nodeRun';

/** Runs `poll()` of a trigger. All its events start one execution. */
export async function runPoll(
	context: IPollFunctions,
	poll: (context: IPollFunctions) => Promise<JsonObject[]>,
): Promise<INodeExecutionData[][] | null> {
	try {
		if (context.getNode().executeOnce === true) {
			throw new InvalidInput(
				"'Execute Once' in the settings of this trigger must be off",
				'In n8n, turn it off. With it, n8n drops all events of a check except the first one.',
			);
		}
		const events = await poll(context);
		return events.length > 0 ? [events.map((json) => ({ json }))] : null;
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** The name of what the trigger remembers, in n8n's static data. */
const STATE = 'polled';

/** By then, n8n has stored the state of a check with events, or never does. */
const STORED_AFTER_MS = 60_000;

/** The latest check of a trigger. */
type LatestCheck = {
	/** The fingerprint of the state with which it began. */
	begunWith: string;
	/** Until when no other one begins with that state. */
	until: number;
	/** What one without events has reached. Another one that would begin with the same state continues with this. */
	reached?: JsonObject;
};
const latestChecks = new Map<string, LatestCheck>();

/** What a check found, and what the next one begins with. */
type Checked = {
	events: JsonObject[];
	state: JsonObject;
	/** Returns what is thrown if there are no events. */
	failure?: (() => Error) | undefined;
};

/**
 * Runs a check with what the trigger remembers, in n8n's static data of the node.
 *
 * It doesn't run if another one has begun with the same state. n8n runs several at the same time if one is slow, or after a
 * restart those that were missed, and each would pass the same events. After one without events, it continues with what that
 * one has reached: n8n may begin it before it has stored that state, and with durable cursors, it never stores that of the
 * check at publication.
 *
 * @param subject what a stored state must contain to be that of the campaign, credential, and start that the trigger has now
 */
export async function checkSince(
	context: IPollFunctions,
	subject: JsonObject,
	check: (stored: unknown) => Promise<Checked>,
): Promise<JsonObject[]> {
	const data = context.getWorkflowStaticData('node');
	const stored = data[STATE];
	const trigger = nodeKey(context);
	const begunWith = fingerprint([subject, stored ?? null]);
	const known = latestChecks.get(trigger);
	// With another state, n8n has stored that of the latest one.
	const latest = known?.begunWith === begunWith ? known : undefined;
	if (latest !== undefined && latest.until > clock.elapsed()) return [];
	// If this one fails, the next one continues with what the latest one has reached, too.
	const own: LatestCheck = { ...latest, begunWith, until: Infinity };
	latestChecks.set(trigger, own);
	let hasEvents = false;
	try {
		const { events, state, failure } = await check(own.reached ?? stored);
		hasEvents = events.length > 0;
		if (!hasEvents) own.reached = state;
		data[STATE] = state;
		if (!hasEvents && failure !== undefined) throw failure();
		return events;
	} finally {
		own.until = hasEvents ? clock.elapsed() + STORED_AFTER_MS : 0;
	}
}

/**
 * What n8n gives a check that it never ends: each one without its scheduler, and with it the one at publication. n8n before
 * 2.38 gives nothing. Its scheduler gives the same only with a timeout of exactly 375 seconds.
 */
const NOT_ENFORCED_MS = 300_000;

/**
 * Aborts when the check must end. n8n's scheduler ends a longer one, loses what it has found, and waits longer until the next
 * one. Without the scheduler, a check takes as long as it needs.
 */
export function endOfCheck(context: IPollFunctions): AbortSignal {
	const givenMs = 'getPollBudgetMs' in context ? context.getPollBudgetMs() : NOT_ENFORCED_MS;
	return givenMs === NOT_ENFORCED_MS ? new AbortController().signal : AbortSignal.timeout(givenMs);
}

export function notComplete(): OutcomeUnknown {
	return new OutcomeUnknown(
		"n8n's time for a check ended before everything was read",
		'The next check begins again. In n8n, if this repeats, check fewer calls, or ask your n8n administrator to raise N8N_SCHEDULER_POLL_TIMEOUT and N8N_SCHEDULER_LEASE_DURATION.',
	);
}
