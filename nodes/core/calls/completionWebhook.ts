import { CALL_ID, UUID } from '../service/parseIds';
import {
	fieldsIn,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	levelsIn,
	MAX_VALUES,
} from '../values/json';
import { isUnset } from '../values/values';

/** Limits the keys of forged reports. */
const MAX_CALL_ID_LENGTH = 128;

/** The document has one call per report. Each costs a request with the account's token, also if it's forged. */
export const MAX_CALLS_PER_REPORT = 10;

/** Fields with free-form content (Call record, Call request), which aren't searched. */
const FREE_FORM = ['data_captured', 'post_call_analysis', 'additional_data'];

/** A call in a completion webhook. */
export type ReportedCall = {
	callId: string;
	/** The object with the `call_id`. */
	record: JsonObject;
};

/** A key for a call ID. The case of a UUID doesn't matter. */
export function callIdKey(callId: string): string {
	return UUID.test(callId) ? callId.toLowerCase() : callId;
}

/**
 * Finds the calls of a report. The position of `call_id` in the payload isn't documented: those closest to the top level
 * count.
 */
export function readReport(payload: JsonValue): ReportedCall[] {
	for (const level of levelsIn(payload, MAX_VALUES, FREE_FORM)) {
		const calls = level.flatMap(callIn);
		if (calls.length > 0) return calls;
	}
	return [];
}

function callIn(value: JsonValue): ReportedCall[] {
	if (!isJsonObject(value)) return [];
	const { call_id: id } = value;
	const isId = typeof id === 'string' && id.length <= MAX_CALL_ID_LENGTH && CALL_ID.test(id);
	return isId ? [{ callId: id, record: value }] : [];
}

/**
 * A field of a reported call, in the object with its `call_id` or below it, except in what was captured. Several values are
 * returned as a list.
 */
export function reportedField({ record }: ReportedCall, name: string): JsonValue {
	const values = [...fieldsIn(record, [name], FREE_FORM)].filter((value) => !isUnset(value));
	return values.length > 1 ? values : (values[0] ?? null);
}
