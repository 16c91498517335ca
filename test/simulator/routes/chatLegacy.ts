import { closeSession, type Session } from '../chat/session';
import { notFound, ok, rejected, type Handler, type SimulatorResponse } from '../http/route';
import { isObject, type JsonObject } from '../json';
import type { Simulator } from '../simulator';
import { turnRejection, withSession } from './chat';

const objectOf = (body: unknown) => (isObject(body) ? body : {});

export const createLegacy: Handler = (sim, request) => {
	const body = objectOf(request.body);
	const agent = sim.state.ownAgent(body.agent_uuid);
	if (!agent) return notFound(sim, 'agentNotFound');
	const { person_name: name } = objectOf(body.metadata);
	const { sessionId, person } = sim.chat.open(agent, typeof name === 'string' ? name : null);
	return ok({
		session_id: sessionId,
		agent_name: agent.name,
		started_at: new Date(sim.clock.now()).toISOString().replace('Z', ''),
		welcome_message: `Hello ${person ?? 'there'}, how can I help?`,
	});
};

export const sendLegacy: Handler = async (sim, request) => {
	const body = objectOf(request.body);
	return await ofAgent(sim, body.chat_session_id, body, async (session) => {
		const content = String(body.message);
		const unnamed = { interaction: null, messageId: null, idempotencyKey: null };
		const outcome = await sim.chat.send(session, { rail: 'rest', content, ...unnamed });
		const rejection = turnRejection(sim, outcome);
		if (rejection) return rejection;
		return ok({
			session_id: session.sessionId,
			response: outcome.reply ?? '',
			tool_calls: [],
			tool_results: [],
			current_state: null,
		});
	});
};

export const closeLegacy: Handler = async (sim, { params, body }) =>
	await ofAgent(sim, params.id, objectOf(body), (session) => {
		closeSession(session, sim.chat.emitter(session));
		const summary = `A conversation of ${session.messages.length} messages.`;
		return ok({ session_id: session.sessionId, summary });
	});

export const pauseLegacy: Handler = async (sim, { params, body }) =>
	await ofAgent(sim, params.id, objectOf(body), (session) => {
		const { statuses, chat } = sim.dialect;
		if (session.status === 'closed') return rejected(statuses.keyReused, chat.closedText);
		session.status = 'paused';
		return ok({ session_id: session.sessionId, message: 'Session paused' });
	});

/** Runs with a session of the agent that the body names. */
async function ofAgent(
	sim: Simulator,
	sessionId: unknown,
	body: JsonObject,
	run: (session: Session) => SimulatorResponse | Promise<SimulatorResponse>,
): Promise<SimulatorResponse> {
	const agent = sim.state.ownAgent(body.agent_uuid);
	if (!agent) return notFound(sim, 'agentNotFound');
	return await withSession(sim, sessionId, (session) =>
		session.agentUuid === agent.agentUuid ? run(session) : notFound(sim, 'agentNotFound'),
	);
}
