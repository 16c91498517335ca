import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import type { ApiClient } from '../api/client';
import { getRecording, getTranscript, type Additions } from '../api/endpoints';
import { recordOf } from '../api/envelope';
import { isRejection } from '../api/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import { phoneKey } from '../phone/phoneKey';
import { findField } from './callEnd';

/** What *Simplify* keeps of a call record. */
export const SIMPLE_CALL_FIELDS = [
	'call_id',
	'status',
	'phone_number',
	'caller_name',
	'agent_name',
	'created_at',
	'duration_seconds',
	'call_ended_reason_message',
	'summary',
	'data_captured',
] as const;

/** A call that has none of the documented fields passes as it is. */
export function simplifyCall(record: JsonObject): JsonObject {
	const simple = pick(record, SIMPLE_CALL_FIELDS);
	return Object.keys(simple).length === 0 ? record : withPhoneKey(simple);
}

/** A record with `phone_key` beside the number that was called; a field of this name of the service's own stays. */
export function withPhoneKey(record: JsonObject): JsonObject {
	const key = phoneKey(findField(record, 'phone_number'));
	return { ...record, phone_key: record.phone_key ?? key };
}

/** The turns of a call; none where nothing was captured. */
export async function readTurns(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<JsonValue[]> {
	return transcriptTurns(recordOf(await getTranscript(client, callId, additions)));
}

/** The turns of a transcript's `data`; none where there is no list. */
export function transcriptTurns(data: JsonObject): JsonValue[] {
	return Array.isArray(data.transcript) ? data.transcript : [];
}

/** One line a turn, such as "assistant: Hello". Roles are shown as they are: their values are open. */
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

/** The recording's link, with the moment until which it is valid. */
export async function readRecording(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<JsonObject> {
	// Counted from before the request, so that the link is never called valid after its end.
	const askedAt = client.clock.now();
	return withExpiry(recordOf(await getRecording(client, callId, additions)), askedAt);
}

/** The same; `null` where the service says that there is no recording. */
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

/** `data` of a recording, with the moment at which its link ends beside the documented seconds. */
export function withExpiry(recording: JsonObject, askedAt: number): JsonObject {
	const { expires_in_seconds: seconds } = recording;
	if (typeof seconds !== 'number') return recording;
	const expires = DateTime.fromMillis(askedAt + seconds * 1000, { zone: 'utc' });
	return { ...recording, expires_at: expires.toISO() };
}
