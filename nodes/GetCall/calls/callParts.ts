import { transcriptTurns, withExpiry } from '../../shared/calls/callRecord';
import { getRecording, getTranscript, type Additions } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { isRefusal } from '../../shared/api/errors';
import type { ApiClient } from '../../shared/api/client';
import type { JsonObject, JsonValue } from '../../shared/json';

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
		if (isRefusal(error, 'recording_not_available')) return null;
		throw error;
	});
}

/** The turns of a call; none where nothing was captured. */
export async function readTurns(
	client: ApiClient,
	callId: string,
	additions: Additions = {},
): Promise<JsonValue[]> {
	return transcriptTurns(recordOf(await getTranscript(client, callId, additions)));
}
