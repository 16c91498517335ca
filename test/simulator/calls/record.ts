import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import type { Agent, Call } from '../state/types';

/** The call record as the service would show it now. */
export function recordOf(call: Call, agent: Agent | undefined, dialect: Dialect): JsonObject {
	const known: JsonObject = {
		call_id: call.callId,
		agent_uuid: call.agentUuid,
		agent_name: agent?.name ?? null,
		phone_number: call.phone,
		from_number: call.fromNumber,
		status: inFlightStatus(call, dialect),
		call_type: null,
		channel: null,
		duration_seconds: null,
		call_ended_by: null,
		call_ended_reason: null,
		call_ended_reason_message: null,
		campaign_id: call.campaignId,
		campaign_upload_id: call.uploadId,
		tag: null,
		created_at: call.createdAt,
		call_picked_at: null,
		caller_name: call.callerName,
		retry_count: 0,
		summary: null,
		data_captured: null,
		post_call_analysis: null,
		...call.outcome,
	};
	if (dialect.calls.missing === 'null') return known;
	return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
}

function inFlightStatus(call: Call, { calls }: Dialect): string | null {
	return calls.inFlight[Math.min(call.reads, calls.inFlight.length - 1)] ?? null;
}
