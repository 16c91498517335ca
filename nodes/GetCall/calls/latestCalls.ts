import { DateTime } from 'luxon';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/modelAdvice';
import { hasOffset } from '../../shared/clock';
import { numberIn, type JsonObject, type JsonValue } from '../../shared/json';
import { phoneKey } from '../../shared/phone/phoneKey';
import { isUnset } from '../../shared/values';
import type { CallFilters } from '../../shared/calls/callFilters';

/**
 * The newest call of each number, in the order of the list. A call is kept if nobody can say that a later one replaces
 * it: its number or time can't be read, another one has the same times, or only one of them has a UTC offset.
 */
export function latestOfEachNumber(calls: readonly JsonObject[]): JsonObject[] {
	const latest = new Map<string, { times: readonly number[]; calls: JsonObject[] }>();
	const kept = new Set<JsonObject>();
	for (const call of calls) {
		const key = phoneKey(call.phone_number);
		const created = timeIn(call.created_at);
		if (key === null || created === undefined) {
			kept.add(call);
			continue;
		}
		const group = `${key} ${created.hasOffset}`;
		const times = [
			created.at,
			numberIn(call.retry_count) ?? 0,
			timeIn(call.call_picked_at)?.at ?? 0,
		];
		const known = latest.get(group);
		const order = known === undefined ? 1 : compare(times, known.times);
		if (order > 0) latest.set(group, { times, calls: [call] });
		else if (order === 0) known?.calls.push(call);
	}
	for (const { calls: newest } of latest.values()) for (const call of newest) kept.add(call);
	return calls.filter((call) => kept.has(call));
}

/** Positive if the first is later, by the first time that differs. */
function compare(one: readonly number[], other: readonly number[]): number {
	const differences = one.map((time, index) => time - (other[index] ?? 0));
	return differences.find((difference) => difference !== 0) ?? 0;
}

function timeIn(text: JsonValue | undefined): { at: number; hasOffset: boolean } | undefined {
	if (typeof text !== 'string') return undefined;
	const at = DateTime.fromISO(text, { zone: 'utc' });
	return at.isValid ? { at: at.toMillis(), hasOffset: hasOffset(text) } : undefined;
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
		onScreenOnly(
			'Remove the Status filter, and keep the calls of that status with a Filter node after this one: else a person who was reached by a later call would come out as not reached.',
		),
	);
}
