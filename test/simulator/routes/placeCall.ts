import { randomUUID } from 'node:crypto';
import { istTimestamp } from '../clock';
import { response, numberMissing, ok, rejected, type SimulatorResponse } from '../http/responses';
import type { Route, SimulatorRequest } from '../http/route';
import { isObject, type JsonObject } from '../json';
import { callRequestProblems, countryOf, scheduledInstant } from '../rules/callRequest';
import { internationalForm } from '../rules/phone';
import { newCall } from '../state/newCall';
import type { Agent, Call } from '../state/types';
import type { SimulatorState } from '../world';

export function placeCallRoutes(world: SimulatorState): Route[] {
	const handle = async (request: SimulatorRequest) => await placeCall(world, request.body);
	return [
		{ method: 'POST', path: '/v1/call', handle },
		{ method: 'POST', path: '/call', legacy: true, handle },
	];
}

async function placeCall(world: SimulatorState, body: unknown): Promise<SimulatorResponse> {
	const { dialect, state, clock } = world;
	if (!isObject(body))
		return response(400, dialect.validation.body(['The body must be a JSON object']));
	const problems = callRequestProblems(body, dialect, clock.now());
	if (problems.length > 0) return response(400, dialect.validation.body(problems));
	const agent = state.ownAgent(body.agent_uuid);
	if (!agent) return rejected(403, 'Agent not found or not associated with this account');
	if (!agent.active && dialect.calls.inactiveAgent === 'rejected') {
		return response(400, dialect.validation.body(['agent is not active']));
	}
	if (body.webhook_url !== undefined && !agent.postCallAnalysis) {
		return rejected(400, 'webhook_url is set but post_call_analysis is not enabled on this agent');
	}
	const missing = numberMissing(dialect, agent);
	if (missing) return missing;

	const phone = internationalForm(String(body.phone_number), countryOf(body), true) ?? '';
	const onDnd = state.dndPhones(agent.agentUuid).has(phone);
	if (onDnd && dialect.calls.numberOnDnd === 'rejected') {
		return response(400, dialect.validation.body(["phone_number is on the agent's DND list"]));
	}
	const call = callFor(world, body, agent, phone);
	call.dialed = !onDnd;
	state.calls.set(call.callId, call);
	await world.completions.placed(call);
	return ok({ call_id: call.callId, ...scheduleOf(world, body, call) });
}

function callFor(world: SimulatorState, body: JsonObject, agent: Agent, phone: string): Call {
	const now = world.clock.now();
	const text = (value: unknown) => (typeof value === 'string' ? value : null);
	return newCall({
		callId: randomUUID(),
		agentUuid: agent.agentUuid,
		phone,
		fromNumber: agent.number,
		callerName: text(body.person_name),
		request: body,
		webhookUrl: text(body.webhook_url),
		campaignId: null,
		uploadId: null,
		createdAt: istTimestamp(now),
		scheduledAt:
			typeof body.scheduled_at === 'string' ? scheduledInstant(body.scheduled_at, now) : null,
	});
}

function scheduleOf({ dialect }: SimulatorState, body: JsonObject, call: Call): JsonObject {
	if (call.scheduledAt === null) return {};
	return {
		scheduled_at: dialect.calls.scheduledAt(String(body.scheduled_at), call.scheduledAt),
		scheduled_at_epoch: Math.floor(call.scheduledAt / 1000),
	};
}
