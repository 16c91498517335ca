import { BoundedMap } from '../shared/boundedMap';
import {
	laterOutcome,
	type OutcomeHint,
	type OutcomeKeys,
	retriesOf,
} from '../shared/calls/callEnd';
import { fingerprint } from '../shared/hash';
import type { JsonObject } from '../shared/json';
import { triggerKey } from '../shared/n8n/triggers/activeTriggers';
import type { ExecutionStarter } from '../shared/n8n/triggers/executionStarter';

/** A call that is reported to a trigger. */
type Reported = { callId: string; keys: OutcomeKeys; starter: ExecutionStarter };

/** Outcomes that used no key, by trigger and key. Only decides whether a report is about another outcome. */
const handledWithoutKey = new BoundedMap<true>(20_000);

/** Notes an outcome that uses no key, such as one that the filters exclude. */
export function noteHandled({ callId, keys, starter }: Reported, record: JsonObject): void {
	handledWithoutKey.set(withTrigger(starter, keys.keyOf(callId, record)), true);
}

/**
 * Whether an outcome has started the workflow or was excluded by the filters, as far as this process knows.
 *
 * @param isShown whether a record shows it
 */
export function isHandled(
	{ callId, keys, starter }: Reported,
	outcome: JsonObject,
	isShown = true,
): boolean {
	const key = keys.keyOf(callId, outcome, isShown);
	return starter.isUsed(key) || handledWithoutKey.has(withTrigger(starter, key));
}

function withTrigger({ trigger }: ExecutionStarter, key: string): string {
	return fingerprint([trigger === undefined ? null : triggerKey(trigger), key]);
}

/**
 * Whether a record shows the outcome before the reported one. If it was handled, any other outcome counts. Otherwise,
 * only a retry does.
 */
export function showsFormer(reported: Reported, hint: OutcomeHint, record: JsonObject): boolean {
	// In a process without the trigger, a waiting report would need memory of its own.
	if (reported.starter.trigger === undefined) return false;
	const isRepeat = isHandled(reported, record);
	const later = laterOutcome(record, hint);
	if (later === undefined || isHandled(reported, later, false)) return false;
	return isRepeat || retriesOf(later) > retriesOf(record);
}
