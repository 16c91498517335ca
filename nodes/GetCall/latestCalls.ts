import { DateTime } from 'luxon';
import { InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { numberIn, type JsonObject, type JsonValue } from '../shared/json';
import { phoneKey } from '../shared/phone/phoneKey';
import { forEachWithPauses } from '../shared/pauses';
import { isUnset } from '../shared/values';
import type { CallFilters } from '../shared/calls/callListQuery';
import { hasOffset } from '../shared/dates';

/**
 * The newest call of each number, in the order of the list. Calls that can't be compared are kept: without a readable
 * number or time, with the same times, or with a UTC offset in only one of them.
 */
export async function latestOfEachNumber(calls: readonly JsonObject[]): Promise<JsonObject[]> {
	const latest = new Map<string, { times: readonly number[]; calls: JsonObject[] }>();
	const kept = new Set<JsonObject>();
	await forEachWithPauses(calls, (call) => {
		const key = phoneKey(call.phone_number);
		const created = timeIn(call.created_at);
		if (key === null || created === undefined) {
			kept.add(call);
			return;
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
	});
	for (const { calls: newest } of latest.values()) for (const call of newest) kept.add(call);
	return calls.filter((call) => kept.has(call));
}

/** Compares by the first time that differs. Positive if the first call is later. */
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
 * Requires that no status filter is set. With one, a later call with another status would be missing, so a person who
 * was reached later would be called again.
 *
 * @throws InvalidInput if 'Status' is set
 */
export function requireAllStatuses({ status }: CallFilters): void {
	if (isUnset(status)) return;
	throw new InvalidInput(
		"'Latest Call of Each Number' can't be used with the filter 'Status'",
		onScreenOnly(
			"Remove 'Status' and add a Filter node after this node. Otherwise, people who were reached in a later call could be returned as not reached.",
		),
	);
}
