import { closeSession } from '../chat/lifecycle';
import type { Session } from '../chat/types';
import { agentNotFound, response, ok, rejected, type SimulatorResponse } from '../http/responses';
import type { Route } from '../http/route';
import { isNonEmptyString, isObject, type JsonObject } from '../json';
import type { SimulatorState } from '../world';
import { withSession } from './chatSession';

export function chatLegacyRoutes(world: SimulatorState): Route[] {
	const post = (path: string, handle: Route['handle']): Route => ({
		method: 'POST',
		path,
		legacy: true,
		handle,
	});
	return [
		post('/chat_sessions', ({ body }) => create(world, body)),
		post('/chat_messages/send_message', async ({ body }) => await send(world, body)),
		post(
			'/chat_sessions/:id/close_session',
			async ({ params, body }) =>
				await ofAgent(world, params.id, body, (session) => close(world, session)),
		),
		post(
			'/chat_sessions/:id/pause_session',
			async ({ params, body }) =>
				await ofAgent(world, params.id, body, (session) => pause(world, session)),
		),
	];
}

/** Validation errors of these endpoints are `errors` arrays. */
function faults(problems: string[]): SimulatorResponse {
	return response(422, { success: false, errors: problems });
}

function missing(body: JsonObject, fields: string[]): string[] {
	return fields
		.filter((field) => !isNonEmptyString(body[field]))
		.map((field) => `${field} is required`);
}

function create(
	{ state, dialect, chat, clock }: SimulatorState,
	given: unknown,
): SimulatorResponse {
	const body = isObject(given) ? given : {};
	const { metadata } = body;
	const problems = missing(body, ['agent_uuid']);
	if (metadata !== undefined && !isObject(metadata)) problems.push('metadata must be an object');
	if (problems.length > 0) return faults(problems);
	const agent = state.ownAgent(body.agent_uuid);
	if (!agent) return agentNotFound(dialect);
	const person = isObject(metadata) ? metadata.person_name : undefined;
	const session = chat.open(agent, typeof person === 'string' ? person : null);
	return ok({
		session_id: session.sessionId,
		agent_name: agent.name,
		started_at: new Date(clock.now()).toISOString().replace('Z', ''),
		welcome_message: `Hello ${session.person ?? 'there'}, how can I help?`,
	});
}

async function send(world: SimulatorState, given: unknown): Promise<SimulatorResponse> {
	const body = isObject(given) ? given : {};
	const problems = missing(body, ['agent_uuid', 'chat_session_id', 'message']);
	if (problems.length > 0) return faults(problems);
	return await ofAgent(world, body.chat_session_id, body, async (session) => {
		const incoming = {
			rail: 'rest',
			content: String(body.message),
			interaction: null,
			messageId: null,
			idempotencyKey: null,
		} as const;
		const outcome = await world.chat.send(session, incoming, world.chat.emitter(session));
		if (typeof outcome.error === 'string')
			return rejected(world.dialect.statuses.busy, outcome.error);
		return ok({
			session_id: session.sessionId,
			response: outcome.reply ?? '',
			tool_calls: [],
			tool_results: [],
			current_state: null,
		});
	});
}

async function ofAgent(
	world: SimulatorState,
	sessionId: unknown,
	given: unknown,
	run: (session: Session) => SimulatorResponse | Promise<SimulatorResponse>,
): Promise<SimulatorResponse> {
	const body = isObject(given) ? given : {};
	const problems = missing(body, ['agent_uuid']);
	if (problems.length > 0) return faults(problems);
	const agent = world.state.ownAgent(body.agent_uuid);
	if (!agent) return agentNotFound(world.dialect);
	return await withSession(world, sessionId, async (session) =>
		session.agentUuid === agent.agentUuid ? await run(session) : agentNotFound(world.dialect),
	);
}

function close({ chat }: SimulatorState, session: Session): SimulatorResponse {
	closeSession(session, chat.emitter(session));
	const count = session.messages.length;
	return ok({ session_id: session.sessionId, summary: `A conversation of ${count} messages.` });
}

function pause({ dialect }: SimulatorState, session: Session): SimulatorResponse {
	if (session.status === 'closed')
		return rejected(dialect.statuses.keyReused, dialect.chat.closedText);
	session.status = 'paused';
	return ok({ session_id: session.sessionId, message: 'Session paused' });
}
