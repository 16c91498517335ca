import { CALL_ID, UUID } from '../api/parseIds';
import {
	fieldsIn,
	innerOf,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	MAX_DEPTH,
	MAX_VALUES,
} from '../json';
import { isUnset } from '../values';

/** Limits the keys of forged reports. */
const MAX_CALL_ID_LENGTH = 128;

export const MAX_CALLS_PER_REPORT = 100;

/** Fields with free-form content (Call record, Call request), which aren't searched. */
const FREE_FORM = ['data_captured', 'post_call_analysis', 'additional_data'];

/** A call in a completion webhook. */
export type ReportedCall = {
	callId: string;
	/** The object with the `call_id`. */
	record: JsonObject;
	/** The part of the report about this call only. The whole report if it has no other call. */
	part: JsonValue;
};

/** Why a report can't be used. */
export type UnusableReport = 'too_many_values' | 'too_many_calls';

/** A key for a call ID. The case of a UUID doesn't matter. */
export function callIdKey(callId: string): string {
	return UUID.test(callId) ? callId.toLowerCase() : callId;
}

/** Calls, and the depth of the one closest to the top level. */
type FoundCalls = { calls: ReportedCall[]; depth: number };

const NO_CALLS: FoundCalls = { calls: [], depth: Infinity };

/**
 * Finds the calls of a report. The position of `call_id` in the payload isn't documented. In an object, the one
 * closest to the top level counts. In a list, each entry has its own.
 */
export function readReport(payload: JsonValue): ReportedCall[] | UnusableReport {
	let values = 0;
	const callsIn = (value: JsonValue, depth: number): FoundCalls => {
		if (typeof value !== 'object' || value === null || ++values > MAX_VALUES) return NO_CALLS;
		const call = callOf(value);
		if (call !== undefined) return { calls: [call], depth };
		if (depth > MAX_DEPTH) return NO_CALLS;
		const found = innerOf(value, FREE_FORM)
			.map((inner) => callsIn(inner, depth + 1))
			.filter(({ calls }) => calls.length > 0);
		const nearest = found.reduce((min, one) => Math.min(min, one.depth), Infinity);
		const counted = Array.isArray(value) ? found : found.filter((one) => one.depth === nearest);
		// One more than a report may have shows that there are too many.
		const calls = counted.flatMap((one) => one.calls).slice(0, MAX_CALLS_PER_REPORT + 1);
		const [last] = calls.slice(-1);
		const isOne =
			!Array.isArray(value) &&
			calls.length === counted.length &&
			new Set(calls.map(({ callId }) => callIdKey(callId))).size === 1;
		// Several fields about the same call are one report.
		return { calls: isOne && last ? [{ ...last, part: value }] : calls, depth: nearest };
	};
	const { calls } = callsIn(payload, 0);
	if (values > MAX_VALUES) return 'too_many_values';
	if (calls.length > MAX_CALLS_PER_REPORT) return 'too_many_calls';
	return calls.length === 1 ? calls.map((call) => ({ ...call, part: payload })) : calls;
}

function callOf(value: JsonValue): ReportedCall | undefined {
	if (!isJsonObject(value)) return undefined;
	const { call_id: id } = value;
	const isId = typeof id === 'string' && id.length <= MAX_CALL_ID_LENGTH && CALL_ID.test(id);
	return isId ? { callId: id, record: value, part: value } : undefined;
}

/**
 * A field of a reported call, from the object with its `call_id`, or else from the objects around it, because an
 * envelope may have a field of the same name. Several values are returned as a list.
 */
export function reportedField({ record, part }: ReportedCall, name: string): JsonValue {
	const own = valuesOf(record, name);
	const values = own.length > 0 ? own : valuesOf(part, name);
	return values.length > 1 ? values : (values[0] ?? null);
}

/** The value of a field at any depth, closest to the top level. What was captured in the call doesn't count. */
export function findField(payload: JsonValue, name: string): JsonValue | undefined {
	return valuesOf(payload, name)[0];
}

function valuesOf(root: JsonValue, name: string): JsonValue[] {
	return [...fieldsIn(root, [name], FREE_FORM)].filter((value) => !isUnset(value));
}
