import { CALL_ID, UUID } from '../api/limits';
import { fieldsIn, isJsonObject, type JsonObject, type JsonValue, MAX_DEPTH } from '../json';
import { isUnset } from '../values';

/** Limits the keys of forged reports. */
const MAX_CALL_ID_LENGTH = 128;

export const MAX_CALLS_PER_REPORT = 100;

/** Maximum number of lists and objects to search, so that no report can keep n8n busy. */
const MAX_VALUES = 100_000;

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
		const found: FoundCalls[] = [];
		for (const [name, inner] of Object.entries(value)) {
			const one = FREE_FORM.includes(name) ? NO_CALLS : callsIn(inner, depth + 1);
			if (one.calls.length > 0) found.push(one);
		}
		return Array.isArray(value) ? callsOfList(found) : callsOfObject(value, found);
	};
	const { calls } = callsIn(payload, 0);
	if (values > MAX_VALUES) return 'too_many_values';
	if (calls.length > MAX_CALLS_PER_REPORT) return 'too_many_calls';
	return calls.length === 1 ? calls.map((call) => ({ ...call, part: payload })) : calls;
}

/** Calls, and the depth of the one closest to the top level. */
type FoundCalls = { calls: ReportedCall[]; depth: number };

const NO_CALLS: FoundCalls = { calls: [], depth: Infinity };

function callOf(value: JsonValue): ReportedCall | undefined {
	if (!isJsonObject(value)) return undefined;
	const { call_id: id } = value;
	const isId = typeof id === 'string' && id.length <= MAX_CALL_ID_LENGTH && CALL_ID.test(id);
	return isId ? { callId: id, record: value, part: value } : undefined;
}

/** Those of all entries. */
function callsOfList(entries: readonly FoundCalls[]): FoundCalls {
	return { calls: firstCalls(entries.flatMap(({ calls }) => calls)), depth: nearest(entries) };
}

/** Those of the fields whose calls are closest to the top level. Of the same call in several fields, the last one counts. */
function callsOfObject(value: JsonObject, fields: readonly FoundCalls[]): FoundCalls {
	const depth = nearest(fields);
	const byId = new Map<string, ReportedCall[]>();
	for (const field of fields) {
		if (field.depth > depth || byId.size > MAX_CALLS_PER_REPORT) continue;
		const named = new Set<string>();
		for (const call of field.calls) {
			const key = callIdKey(call.callId);
			// A list may have several outcomes of a call.
			const others = named.has(key) ? (byId.get(key) ?? []) : [];
			byId.set(key, [...others, call]);
			named.add(key);
		}
	}
	const calls = [...byId.values()].flat();
	const isAlone = calls.length === 1;
	return {
		calls: isAlone ? calls.map((call) => ({ ...call, part: value })) : firstCalls(calls),
		depth,
	};
}

function nearest(found: readonly FoundCalls[]): number {
	return found.reduce((min, { depth }) => Math.min(min, depth), Infinity);
}

/** One more than a report may have shows that there are too many. */
function firstCalls(calls: ReportedCall[]): ReportedCall[] {
	return calls.slice(0, MAX_CALLS_PER_REPORT + 1);
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
