import { closeSession, switchMode, type Incoming, type Session } from '../chat/session';
import type { InboundFields } from '../dialects/types';
import {
	bodyByNames,
	invalid,
	notFound,
	ok,
	rejected,
	response,
	type Handler,
	type SimulatorRequest,
	type SimulatorResponse,
} from '../http/route';
import { isNonEmptyString, isObject, type JsonObject } from '../json';
import type { Simulator } from '../simulator';

type Answer = SimulatorResponse | Promise<SimulatorResponse>;
type OnSession = (sim: Simulator, session: Session, body: JsonObject) => Answer;

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);

/** Runs with the session of an ID, or responds that it's unknown. */
export function withSession(
	sim: Simulator,
	id: unknown,
	run: (session: Session) => Answer,
): Answer {
	const { state, dialect } = sim;
	// A UUID is the same in upper and lower case.
	const session = typeof id === 'string' ? state.sessions.get(id.toLowerCase()) : undefined;
	if (!session) return rejected(dialect.statuses.sessionNotFound, dialect.chat.unknownSession);
	return state.ownAgent(session.agentUuid) ? run(session) : notFound(sim, 'agentNotFound');
}

/** An endpoint with the session in its path. */
const onSession =
	(run: OnSession): Handler =>
	(sim, { params, body }) =>
		withSession(sim, params.id, (session) => run(sim, session, isObject(body) ? body : {}));

export const createSession: Handler = (sim, request) => {
	const { state, chat, dialect } = sim;
	const names = dialect.chat.create;
	const body = bodyByNames(request, names, dialect.chat.inQuery);
	if (body === undefined) return invalid(sim, ['The body must be a JSON object']);
	const { [names.agent]: agentUuid, [names.person]: person, [names.metadata]: metadata } = body;
	if (!isNonEmptyString(agentUuid)) return invalid(sim, [`${names.agent} is required`]);
	if (metadata !== undefined && !isObject(metadata)) {
		return invalid(sim, [`${names.metadata} must be an object`]);
	}
	const agent = state.ownAgent(agentUuid);
	if (!agent) return notFound(sim, 'agentNotFound');
	const { sessionId, mode, createdAt } = chat.open(agent, textOrNull(person));
	const created = {
		session_id: sessionId,
		agent_uuid: agent.agentUuid,
		agent_name: agent.name,
		status: 'active',
		mode,
		created_at: createdAt,
	};
	return response(200, dialect.chat.createBody(created));
};

export const receiveMessage: Handler = async (sim, request) => {
	const { chat } = sim.dialect;
	return await received(sim, chat.inbound, request, async (session, incoming) => {
		const outcome = await sim.chat.send(session, incoming);
		return turnRejection(sim, outcome) ?? response(200, chat.inboundBody(outcome));
	});
};

export const acceptMessage: Handler = async (sim, request) =>
	await received(sim, sim.dialect.chat.async, request, (session, incoming) => {
		const result = sim.chat.sendLater(session, incoming);
		if ('stopped' in result) return turnRejection(sim, result.stopped) ?? ok(result.stopped);
		return response(200, sim.dialect.chat.asyncBody(result.turnId, result.messageId));
	});

/** Reads the message with the dialect's names, and finds or creates its session. */
async function received(
	sim: Simulator,
	names: InboundFields,
	request: SimulatorRequest,
	run: (session: Session, incoming: Incoming) => Answer,
): Promise<SimulatorResponse> {
	const { dialect, state } = sim;
	const body = bodyByNames(request, names, dialect.chat.inQuery);
	if (body === undefined) return invalid(sim, ['The body must be a JSON object']);
	const { [names.message]: content, [names.session]: sessionId, idempotency_key: key } = body;
	if (!isNonEmptyString(content)) return invalid(sim, [`${names.message} is required`]);
	if (sessionId === undefined && body[names.agent] === undefined) {
		return invalid(sim, [`${names.session} or ${names.agent} is required`]);
	}
	if (key !== undefined && !isNonEmptyString(key)) {
		return invalid(sim, ['idempotency_key must be a string']);
	}
	const incoming: Incoming = {
		rail: 'rest',
		content,
		interaction: null,
		messageId: textOrNull(body[names.messageId]),
		idempotencyKey: key ?? null,
	};
	if (sessionId !== undefined) {
		return await withSession(sim, sessionId, (session) => run(session, incoming));
	}
	const agent = state.ownAgent(body[names.agent]);
	if (!agent) return notFound(sim, 'agentNotFound');
	const person = textOrNull(body[names.person]);
	const known = [...state.sessions.values()].find(
		(session) =>
			session.agentUuid === agent.agentUuid &&
			session.person === person &&
			session.status !== 'closed',
	);
	return await run(known ?? sim.chat.open(agent, person), incoming);
}

/** The response to a message that started no turn, otherwise undefined. */
export function turnRejection(
	{ dialect: { statuses, chat } }: Simulator,
	{ state, error }: JsonObject,
): SimulatorResponse | undefined {
	if (typeof error !== 'string') return undefined;
	if (state === 'busy') return rejected(statuses.busy, error);
	const isRejected = state === 'invalid' || error === chat.closedText;
	return rejected(isRejected ? statuses.keyReused : 500, error);
}

export const support = onSession((sim, session, body) => {
	const { chat } = sim.dialect;
	const { commands } = chat;
	const { [commands.text]: text } = body;
	const known = ['close', commands.takeOver, commands.release, commands.tell];
	const command = known.find((name) => name === body.command);
	if (command === undefined) return invalid(sim, ['command is not known']);
	const isTell = command === commands.tell;
	if (isTell && !isNonEmptyString(text)) return invalid(sim, [`${commands.text} is required`]);
	if (session.status === 'closed') return refused(sim, command, 'session_closed');
	if (isTell && session.mode === 'support') {
		return refused(sim, command, 'tell_not_allowed_during_takeover');
	}
	const emit = sim.chat.emitter(session);
	if (command === 'close') closeSession(session, emit);
	if (command === commands.takeOver) switchMode(session, 'support', emit);
	if (command === commands.release) switchMode(session, 'ai', emit);
	if (isTell) session.context.push(String(text));
	return response(200, chat.supportBody(command, session.mode));
});

/** A refusal relayed from the chat engine. */
function refused({ dialect }: Simulator, command: string, reason: string): SimulatorResponse {
	return response(dialect.statuses.relayedRejection, {
		success: false,
		error: `Chat engine rejected ${command}`,
		upstream_body: { state: 'rejected', reason },
	});
}

export const injectContext = onSession((_sim, session, { context }) => {
	session.context.push(String(context));
	return ok({ session_id: session.sessionId, context: session.context });
});

export const mintToken = onSession((sim, { sessionId, status }, { stream }) => {
	if (stream !== 'user') return rejected(403, 'Stream not allowed for this credential');
	if (status === 'closed') return rejected(409, 'session_closed');
	const { token, expiresAt } = sim.hub.mint(sessionId);
	const { urlQuery } = sim.dialect.socket;
	const url = `${sim.baseUrl.replace(/^http/, 'ws')}/v1/chat/session/${sessionId}/user-stream`;
	return ok({
		token,
		ws_url: urlQuery === '' ? url : `${url}?${urlQuery}`,
		expires_at: Math.floor(expiresAt / 1000),
		stream,
	});
});
