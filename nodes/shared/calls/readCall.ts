import { DateTime } from 'luxon';
import type { ApiClient } from '../api/client';
import { getCall, getRecording, getTranscript, type Additions } from '../api/endpoints';
import { recordOf } from '../api/envelope';
import { isRejection, OtherRecord } from '../api/errors';
import type { JsonObject, JsonValue } from '../json';
import { transcriptTurns } from './callRecord';

/** Reads the call record from the service. */
export async function readCallRecord(client: ApiClient, callId: string): Promise<JsonObject> {
	return recordOf(await getCall(client, callId));
}

/** Whether the account doesn't have the call. */
export function isUnknownCall(error: unknown): boolean {
	return error instanceof OtherRecord || isRejection(error, 'call_not_found');
}

export type Included = { transcript: boolean; recording: boolean };

/** Transcript and recording. `[]` and `null` for a call without them. */
export async function readIncluded(
	client: ApiClient,
	callId: string,
	{ transcript, recording }: Included,
): Promise<JsonObject> {
	return {
		...(transcript && { transcript: await readTurns(client, callId) }),
		...(recording && { recording: await recordingOrNull(client, callId) }),
	};
}

/** Reads the transcript of a call. Empty if none was captured. */
export async function readTurns(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<JsonValue[]> {
	return transcriptTurns(recordOf(await getTranscript(client, callId, additions)));
}

/** Reads the link to a recording, and adds when it expires. */
export async function readRecording(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<JsonObject> {
	// Measured before the request, so that `expires_at` is never too late.
	const requestedAt = client.clock.now();
	const recording = recordOf(await getRecording(client, callId, additions));
	const { expires_in_seconds: seconds } = recording;
	if (typeof seconds !== 'number') return recording;
	const expires = DateTime.fromMillis(requestedAt + seconds * 1000, { zone: 'utc' });
	return { ...recording, expires_at: expires.toISO() };
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
