import { getRecording, getTranscript, type Additions } from '../shared/service/endpoints';
import { transcriptTurns, withExpiry } from '../shared/service/callRecord';
import { recordOf } from '../shared/service/envelope';
import { isRecordingMissing } from '../shared/service/errorTable';
import { ServiceRefusal } from '../shared/service/explained';
import type { Service } from '../shared/service/service';
import type { JsonObject, JsonValue } from '../shared/service/types';

/** The recording of a call; `null` where the service says that there is none. */
export async function recordingOrNull(
	service: Service,
	callId: string,
	additions: Additions,
): Promise<JsonObject | null> {
	try {
		return await recordingOf(service, callId, additions);
	} catch (error) {
		if (error instanceof ServiceRefusal && isRecordingMissing(error.refusal)) return null;
		throw error;
	}
}

export async function recordingOf(
	service: Service,
	callId: string,
	additions: Additions,
): Promise<JsonObject> {
	// Counted from before the request, so that the link is never called valid after its end.
	const askedAt = service.clock.now();
	return withExpiry(recordOf(await getRecording(service, callId, additions)), askedAt);
}

export async function turnsOf(
	service: Service,
	callId: string,
	additions: Additions,
): Promise<JsonValue[]> {
	return transcriptTurns(recordOf(await getTranscript(service, callId, additions)));
}
