import sortBy from 'lodash/sortBy';
import { type OutcomeUnknown, unusable } from '../core/service/errors';
import { numberIn, type JsonObject } from '../core/values/json';
import { statusKey } from '../core/calls/callEnd';
import { outcomeOf } from '../core/calls/callRecord';
import { phoneKey, looseKeyOf } from '../core/phone/callPhone';
import { forEachWithPauses } from '../core/values/pauses';
import { isUnset, plainText, quoted } from '../core/values/values';
import { hasOffset, parseTime } from '../core/values/dates';

/**
 * The calls of a person, and the key of the number that was called last. `newest` has several calls only if nothing
 * distinguishes them.
 */
type CallsOfNumber = {
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
		const person = looseKeyOf(key);
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

type Rules = { statuses: string[]; attempts: number; hours: number; goal: number };

const HOUR_MS = 3_600_000;

/**
 * The people whose latest call has one of the statuses. Those who wait longest come first, so that a goal doesn't
 * always leave out the same people.
 *
 * @throws OutcomeUnknown if it isn't certain when a person was called
 */
export function toCallAgain(
	everybody: readonly CallsOfNumber[],
	{ statuses, attempts, hours, goal }: Rules,
	nowMs: number,
): JsonObject[] {
	const isMissed = ({ status }: JsonObject) => statuses.includes(statusKey(plainText(status)));
	const reached = everybody.filter(({ all }) => !all.every(isMissed)).length;
	const latest = nowMs - hours * HOUR_MS;
	const people = sortBy(everybody, 'createdAt').flatMap((one) => {
		const redials = one.all.map(({ retry_count: retries }) => (numberIn(retries) ?? 0) + 1);
		const calls = Math.max(one.all.length, ...redials);
		if (calls >= attempts || !one.newest.every(isMissed)) return [];
		const [{ created_at = null }] = one.newest;
		if (hours > 0 && Number.isNaN(one.createdAt))
			throw notCertain(`${quoted(created_at)} in created_at isn't a time with an offset`);
		return one.createdAt > latest ? [] : [personOf(one, calls)];
	});
	return people.slice(0, Math.max(0, goal - reached));
}

/** What decides about a person, and what is returned. The rest of a long list would fill the memory. */
export const USED_FIELDS = [
	'call_id',
	'created_at',
	'phone_number',
	'status',
	'retry_count',
	'caller_name',
];

/** With the columns that Push Campaign Contacts finds. */
function personOf({ key, all, newest: [call] }: CallsOfNumber, attempts: number): JsonObject {
	return {
		person_name: [call, ...all].find(({ caller_name: name }) => !isUnset(name))?.caller_name ?? '',
		phone: `+${key}`,
		attempts,
		last_outcome: outcomeOf(call),
		last_call_at: call.created_at ?? null,
		last_call_id: call.call_id ?? null,
		phone_key: key,
	};
}

function notCertain(reason: string): OutcomeUnknown {
	return unusable(
		`The latest call of each number isn't certain, because ${reason}`,
		"Find out with 'Get Many' who was reached before you call anybody again.",
		{ origin: 'response' },
	);
}
