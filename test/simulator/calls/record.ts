import type { JsonObject } from '../json';
import type { Simulator } from '../simulator';
import type { Call } from '../state/state';

/** The call record as the service would show it now. */
export function recordOf(call: Call, { state, dialect }: Simulator): JsonObject {
	const { inFlight, missing } = dialect.calls;
	const known: JsonObject = {
		call_id: call.callId,
		agent_uuid: call.agentUuid,
		agent_name: state.agents.get(call.agentUuid)?.name ?? null,
		phone_number: call.phone,
		from_number: call.fromNumber,
		status: inFlight[Math.min(call.reads, inFlight.length - 1)] ?? null,
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
	if (missing === 'null') return known;
	return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
}
