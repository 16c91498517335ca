import { DateTime } from 'luxon';
import { InvalidInput } from '../../shared/api/errors';
import type { JsonObject } from '../../shared/json';
import { phoneKey } from '../../shared/phone/phoneKey';
import { isUnset } from '../../shared/values';
import type { CallFilters } from '../../shared/calls/callFilters';

/**
 * The newest call of each number, in the order of the list. A call whose number or time cannot be read is kept: nobody
 * can say that a later one replaces it.
 */
export function latestOfEachNumber(calls: readonly JsonObject[]): JsonObject[] {
	const latest = new Map<string, { call: JsonObject; at: number }>();
	const others = new Set<JsonObject>();
	for (const call of calls) {
		const key = phoneKey(call.phone_number);
		const at = createdAt(call);
		if (key === null || at === undefined) others.add(call);
		else if (at > (latest.get(key)?.at ?? -Infinity)) latest.set(key, { call, at });
	}
	for (const { call } of latest.values()) others.add(call);
	return calls.filter((call) => others.has(call));
}

function createdAt({ created_at: text }: JsonObject): number | undefined {
	if (typeof text !== 'string') return undefined;
	const at = DateTime.fromISO(text, { zone: 'utc' });
	return at.isValid ? at.toMillis() : undefined;
}

/**
 * Among the calls of one status the newest is not the newest of all: who was reached later would be called again.
 *
 * @throws InvalidInput for a filter by status
 */
export function requireAllStatuses({ status }: CallFilters): void {
	if (isUnset(status)) return;
	throw new InvalidInput(
		'Latest Call of Each Number needs the calls of every status, and a Status filter is set',
		'Remove the Status filter, and keep the calls of that status with a Filter node after this one: else a person who was reached by a later call would come out as not reached.',
	);
}
