import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { numberIn, type JsonObject, type JsonValue } from '../shared/json';
import { phoneKey } from '../shared/phone/phoneKey';
import { forEachWithPauses } from '../shared/pauses';
import { isWritten, readWritten } from '../shared/phone/written';
import { counted, isUnset, quoted } from '../shared/values';
import type { CallFilters } from '../shared/calls/callListQuery';
import { hasOffset, parseTime } from '../shared/dates';

/** The calls of one number: the newest ones so far, and how their times are written. */
type CallsOfNumber = {
	newest: { times: readonly number[]; calls: JsonObject[] };
	count: number;
	withOffset: Set<boolean | undefined>;
};

/** The digits in which two writings of a number end. */
const ENDING_DIGITS = 8;

/**
 * The newest call of each number, in the order of the list. Calls without a number, and calls with the same times, are all
 * kept.
 *
 * @throws OutcomeUnknown if it isn't certain which call of a number is the newest
 */
export async function latestOfEachNumber(calls: readonly JsonObject[]): Promise<JsonObject[]> {
	const numbers = new Map<string, CallsOfNumber>();
	const kept = new Set<JsonObject>();
	/** Numbers without a clear international format. */
	const keyless = new Set<string>();
	await forEachWithPauses(calls, (call) => {
		const key = phoneKey(call.phone_number);
		const number = key ?? writtenDigits(call.phone_number);
		if (number === undefined) {
			kept.add(call);
			return;
		}
		if (key === null) keyless.add(number);
		const created = timeIn(call.created_at);
		const times = [
			created?.at ?? 0,
			numberIn(call.retry_count) ?? 0,
			timeIn(call.call_picked_at)?.at ?? 0,
		];
		const known = numbers.get(number) ?? {
			newest: { times, calls: [] },
			count: 0,
			withOffset: new Set(),
		};
		numbers.set(number, known);
		known.count++;
		known.withOffset.add(created?.hasOffset);
		const order = compare(times, known.newest.times);
		if (order > 0) known.newest = { times, calls: [call] };
		else if (order === 0) known.newest.calls.push(call);
	});
	const unclear: JsonObject[] = [];
	const byEnding = new Map<string, string>();
	let mixed: [string, string] | undefined;
	await forEachWithPauses(numbers, ([number, { newest, count, withOffset }]) => {
		if (count > 1 && (withOffset.size > 1 || withOffset.has(undefined)))
			unclear.push(...newest.calls.slice(0, 1));
		for (const call of newest.calls) kept.add(call);
		const ending = number.slice(-ENDING_DIGITS);
		const other = byEnding.get(ending);
		if (other === undefined) byEnding.set(ending, number);
		// Two writings of a number, unless both are clear.
		else if (keyless.has(number) || keyless.has(other)) mixed ??= [other, number];
	});
	const [example] = unclear;
	if (example !== undefined) {
		throw notCertain(
			`The latest call of ${counted(unclear.length, 'number')} isn't certain, because not all times of the calls can be compared (for example ${quoted(example.created_at)} in created_at)`,
		);
	}
	if (mixed !== undefined) {
		const [one, other] = mixed;
		throw notCertain(
			`The latest calls aren't certain, because ${quoted(one)} and ${quoted(other)} in the call list may be the same number`,
		);
	}
	return calls.filter((call) => kept.has(call));
}

function notCertain(message: string): OutcomeUnknown {
	return new OutcomeUnknown(
		message,
		onScreenOnly(
			"Turn off 'Latest Call of Each Number', and find the newest calls with other nodes before you call anybody again.",
		),
		{ origin: 'response' },
	);
}

/** The digits of a number as it's written. Undefined if there's no single number. */
function writtenDigits(value: JsonValue | undefined): string | undefined {
	const written = readWritten(value);
	return isWritten(written) ? written.digits : undefined;
}

/** Compares by the first time that differs. Positive if the first call is later. */
function compare(one: readonly number[], other: readonly number[]): number {
	const differences = one.map((time, index) => time - (other[index] ?? 0));
	return differences.find((difference) => difference !== 0) ?? 0;
}

/** Later times are in milliseconds, earlier ones in seconds. */
const FIRST_MILLISECONDS = 100_000_000_000;

/** A time in ISO 8601, or since 1970. */
function timeIn(value: JsonValue | undefined): { at: number; hasOffset: boolean } | undefined {
	const number = numberIn(value);
	if (number !== undefined) {
		return { at: number < FIRST_MILLISECONDS ? number * 1_000 : number, hasOffset: true };
	}
	if (typeof value !== 'string') return undefined;
	const at = parseTime(value, 'utc');
	return at.isValid ? { at: at.toMillis(), hasOffset: hasOffset(value) } : undefined;
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
