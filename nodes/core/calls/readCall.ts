import { DateTime } from 'luxon';
import type { ApiClient } from '../service/client';
import {
	getCall,
	getRecording,
	getTranscript,
	OtherRecord,
	type Additions,
} from '../service/endpoints';
import { documentedRecord, recordOf } from '../service/envelope';
import { ExplainedError, isRejection } from '../service/errors';
import type { JsonObject } from '../values/json';
import { transcriptTurns } from './callRecord';

/** Reads the call record from the service. */
export async function readCallRecord(client: ApiClient, callId: string): Promise<JsonObject> {
	return documentedRecord('call_id', await getCall(client, callId));
}

/** Whether the account doesn't have the call. */
export function isUnknownCall(error: unknown): boolean {
	return error instanceof OtherRecord || isRejection(error, 'call_not_found');
}

/**
 * Transcript and recording, if included. `[]` and `null` for a call without them.
 *
 * @param included the values of *Include*
 */
export async function readIncluded(
	client: ApiClient,
	callId: string,
	included: readonly string[],
	additions: Additions = {},
): Promise<JsonObject> {
	const read: JsonObject = {};
	if (included.includes('transcript')) {
		const transcript = getTranscript(client, callId, additions).catch(naming('Transcript'));
		read.transcript = transcriptTurns(recordOf(await transcript));
	}
	if (included.includes('recording')) {
		const recording = readRecording(client, callId, additions);
		read.recording = await recording.catch((error: unknown) => {
			if (isRejection(error, 'recording_not_available')) return null;
			return naming('Recording')(error);
		});
	}
	return read;
}

/** Names the part that can't be read, because the record of the call was read. */
function naming(part: string) {
	return (error: unknown): never => {
		if (error instanceof ExplainedError) error.message = `${part}: ${error.message}`;
		throw error;
	};
}

/** Reads the link to a recording, and adds when it expires. */
export async function readRecording(
	client: ApiClient,
	callId: string,
	additions: Additions,
): Promise<JsonObject> {
	// Measured before the request, so that `expires_at` is never too late.
	const requestedAt = client.clock.now();
	const recording = recordOf(await getRecording(client, callId, additions));
	const { expires_in_seconds: seconds } = recording;
	if (typeof seconds !== 'number') return recording;
	const expires = DateTime.fromMillis(requestedAt + seconds * 1000, { zone: 'utc' });
	return { ...recording, expires_at: expires.toISO() };
}
