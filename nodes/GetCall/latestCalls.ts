import { type OutcomeUnknown, unusable } from '../core/service/errors';
import { numberIn, type JsonObject } from '../core/values/json';
import { phoneKey, withoutPrefixes } from '../core/phone/phoneKey';
import { forEachWithPauses } from '../core/values/pauses';
import { isUnset, plainText, quoted } from '../core/values/values';
import { hasOffset, parseTime } from '../core/values/dates';

/**
 * The calls of a person, and the key of the number that was called last. `newest` has several calls only if nothing
 * distinguishes them.
 */
export type CallsOfNumber = {
	key: string;
	all: JsonObject[];
	newest: [JsonObject, ...JsonObject[]];
	/** When the newest was created, in epoch milliseconds. NaN if the time, or its zone, isn't known. */
	createdAt: number;
};

/** What decides which call is the newest. */
type Newest = { time: number; form: boolean | undefined; retries: number };

/**
 * The calls by their number. The newest is the one created last, or of several created at that time, the last retry. Calls
 * without a number are left out.
 *
 * @param since in epoch milliseconds. Calls that were certainly created before don't count: the service may not know the
 * filter.
 * @throws OutcomeUnknown if it isn't certain which call of a number is the newest
 */
export async function callsByNumber(
	calls: readonly JsonObject[],
	since = -Infinity,
): Promise<CallsOfNumber[]> {
	const numbers = new Map<string, CallsOfNumber & Newest>();
	await forEachWithPauses(calls, (call) => {
		const { phone_number: number, created_at: written } = call;
		if (isUnset(number) || !/\d/.test(plainText(number))) return;
		const at = parseTime(written, 'utc');
		const time = at.toMillis();
		const form = at.isValid && typeof written === 'string' ? hasOffset(written) : undefined;
		if (form === true && time < since) return;
		const key = phoneKey(number);
		// It may be one of the others.
		if (key === null)
			throw notCertain(`${quoted(number)} in phone_number isn't an international number`);
		const retries = numberIn(call.retry_count) ?? 0;
		const person = withoutPrefixes(key);
		const known = numbers.get(person);
		if (known !== undefined && (form === undefined || form !== known.form)) {
			throw notCertain(`${quoted(written ?? null)} in created_at can't be compared`);
		}
		const later = known && (time - known.time || retries - known.retries);
		known?.all.push(call);
		if (later === 0) known?.newest.push(call);
		else if (later === undefined || later > 0) {
			const createdAt = form === true ? time : NaN;
			const all = known?.all ?? [call];
			numbers.set(person, { key, all, newest: [call], createdAt, retries, time, form });
		}
	});
	return [...numbers.values()];
}

export function notCertain(reason: string): OutcomeUnknown {
	return unusable(
		`The latest call of each number isn't certain, because ${reason}`,
		"Find out with 'Get Many' who was reached before you call anybody again.",
		{ origin: 'response' },
	);
}
