import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import type { ApiClient } from '../api/client';
import { getRecording, getTranscript, type Additions } from '../api/endpoints';
import { recordOf } from '../api/envelope';
import { isRejection } from '../api/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import { phoneKey } from '../phone/phoneKey';
import { findField } from './report';

/** What a person looks for in a call. A record begins with it. */
const FIRST_FIELDS = ['status', 'summary', 'data_captured', 'caller_name', 'phone_number'] as const;

/** Fields of a simplified call record. */
export const SIMPLE_CALL_FIELDS = [
	...FIRST_FIELDS,
	'agent_name',
	'duration_seconds',
	'call_ended_reason_message',
	'call_id',
	'created_at',
] as const;

/** Simplifies a call record. A record without documented fields stays unchanged. */
export function simplifyCall(record: JsonObject): JsonObject {
	const simple = pick(record, SIMPLE_CALL_FIELDS);
	return Object.keys(simple).length === 0 ? record : withPhoneKey(simple);
}

/** A call record for the output: what a person looks for comes first, and `phone_key` is added if it's missing. */
export function withPhoneKey(record: JsonObject): JsonObject {
	const key = phoneKey(findField(record, 'phone_number'));
	return { ...pick(record, FIRST_FIELDS), ...record, phone_key: record.phone_key ?? key };
}

/** Reads the transcript of a call. Empty if none was captured. */
export async function readTurns(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<JsonValue[]> {
	return transcriptTurns(recordOf(await getTranscript(client, callId, additions)));
}

/** The turns in the `data` of a transcript. Empty if there is no list. */
export function transcriptTurns(data: JsonObject): JsonValue[] {
	return Array.isArray(data.transcript) ? data.transcript : [];
}

/** The transcript as text, with a line per turn, such as "assistant: Hello". */
export function transcriptText(turns: JsonValue[]): string {
	return turns.map(lineOf).join('\n');
}

function lineOf(turn: JsonValue): string {
	if (!isJsonObject(turn)) return oneLine(turn);
	return `${oneLine(turn.role)}: ${oneLine(turn.content)}`;
}

function oneLine(value: JsonValue | undefined): string {
	if (value === undefined || value === null) return '';
	return (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ').trim();
}

/** Reads the link to a recording, and adds when it expires. */
export async function readRecording(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<JsonObject> {
	// Measured before the request, so that `expires_at` is never too late.
	const requestedAt = client.clock.now();
	return withExpiry(recordOf(await getRecording(client, callId, additions)), requestedAt);
}

/** Like {@link readRecording}. Null if the call has no recording. */
export async function recordingOrNull(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<JsonObject | null> {
	return await readRecording(client, callId, additions).catch((error: unknown) => {
		if (isRejection(error, 'recording_not_available')) return null;
		throw error;
	});
}

/** Adds `expires_at` to the `data` of a recording. */
export function withExpiry(recording: JsonObject, requestedAt: number): JsonObject {
	const { expires_in_seconds: seconds } = recording;
	if (typeof seconds !== 'number') return recording;
	const expires = DateTime.fromMillis(requestedAt + seconds * 1000, { zone: 'utc' });
	return { ...recording, expires_at: expires.toISO() };
}
