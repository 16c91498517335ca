import { InvalidInput, OutcomeUnknown } from '../core/service/errors';
import { onScreenOnly } from '../core/service/resolution';
import { numberIn, type JsonObject } from '../core/values/json';
import { phoneKey } from '../core/phone/phoneKey';
import { forEachWithPauses } from '../core/values/pauses';
import { isUnset, quoted } from '../core/values/values';
import type { CallFilters } from '../core/calls/callListQuery';
import { hasOffset, parseTime } from '../core/values/dates';

/** The newest calls of a number so far, and the form of its times. */
type CallsOfNumber = { newest: JsonObject[]; createdAt: number; retries: number; form: unknown };

/**
 * The newest call of each number, in the order of the list: the one created last, or of several created at that time, the
 * last retry. Calls without a number, and calls that nothing distinguishes, are all kept.
 *
 * @throws OutcomeUnknown if it isn't certain which call of a number is the newest
 */
export async function latestOfEachNumber(calls: readonly JsonObject[]): Promise<JsonObject[]> {
	const numbers = new Map<string, CallsOfNumber>();
	const kept = new Set<JsonObject>();
	await forEachWithPauses(calls, (call) => {
		const { phone_number: number, created_at: time } = call;
		if (isUnset(number)) {
			kept.add(call);
			return;
		}
		const key = phoneKey(number);
		// It may be one of the others.
		if (key === null)
			throw notCertain(`${quoted(number)} in phone_number isn't an international number`);
		const at = parseTime(time, 'utc');
		const form = at.isValid && typeof time === 'string' ? hasOffset(time) : undefined;
		const retries = numberIn(call.retry_count) ?? 0;
		const known = numbers.get(key);
		if (known !== undefined && (form === undefined || form !== known.form)) {
			throw notCertain(`${quoted(time ?? null)} in created_at can't be compared`);
		}
		const later = known && (at.toMillis() - known.createdAt || retries - known.retries);
		if (later === 0) known?.newest.push(call);
		else if (later === undefined || later > 0)
			numbers.set(key, { newest: [call], createdAt: at.toMillis(), retries, form });
	});
	await forEachWithPauses(numbers.values(), ({ newest }) => {
		for (const call of newest) kept.add(call);
	});
	return calls.filter((call) => kept.has(call));
}

function notCertain(reason: string): OutcomeUnknown {
	return new OutcomeUnknown(
		`The latest call of each number isn't certain, because ${reason}`,
		onScreenOnly(
			"Turn off 'Latest Call of Each Number', and find the newest calls with other nodes before you call anybody again.",
		),
		{ origin: 'response' },
	);
}

/**
 * Requires that no filter leaves out later calls, because a person who was reached in one of them would be called again.
 *
 * @throws InvalidInput if 'Status' or 'To' is set
 */
export function requireLaterCalls({ status, to }: CallFilters): void {
	if (isUnset(status) && isUnset(to)) return;
	const label = isUnset(status) ? 'To' : 'Status';
	throw new InvalidInput(
		`'Latest Call of Each Number' can't be used with the filter '${label}'`,
		onScreenOnly(
			`Remove '${label}' and add a Filter node after this node. Otherwise, people who were reached in a later call could be returned as not reached.`,
		),
	);
}
