import { closeSession, switchMode, type Incoming, type Session } from '../chat/session';
import type { Dialect } from '../dialects';
import {
	invalid,
	notFound,
	ok,
	placed,
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
	const { create } = dialect.chat;
	const agentUuid = placed(request, create.agent);
	const metadata = placed(request, create.metadata);
	if (!isNonEmptyString(agentUuid)) return invalid(sim, [`${create.agent.name} is required`]);
	if (metadata !== undefined && !isObject(metadata)) {
		return invalid(sim, [`${create.metadata.name} must be an object`]);
	}
	const agent = state.ownAgent(agentUuid);
	if (!agent) return notFound(sim, 'agentNotFound');
	const { sessionId, mode, createdAt } = chat.open(
		agent,
		textOrNull(placed(request, create.person)),
	);
	const created = {
		session_id: sessionId,
		agent_uuid: agent.agentUuid,
		agent_name: agent.name,
		status: dialect.chat.sessionStatus,
		mode,
		created_at: createdAt,
	};
	return response(200, dialect.chat.created.body(created));
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
	fields: Dialect['chat']['inbound'],
	request: SimulatorRequest,
	run: (session: Session, incoming: Incoming) => Answer,
): Promise<SimulatorResponse> {
	const { state } = sim;
	const content = placed(request, fields.message);
	const sessionId = placed(request, fields.session);
	const agentUuid = placed(request, fields.agent);
	const key = isObject(request.body) ? request.body.idempotency_key : undefined;
	if (!isNonEmptyString(content)) return invalid(sim, [`${fields.message.name} is required`]);
	if (sessionId === undefined && agentUuid === undefined) {
		return invalid(sim, [`${fields.session.name} or ${fields.agent.name} is required`]);
	}
	if (key !== undefined && !isNonEmptyString(key)) {
		return invalid(sim, ['idempotency_key must be a string']);
	}
	const incoming: Incoming = {
		rail: 'rest',
		content,
		interaction: null,
		messageId: textOrNull(placed(request, fields.messageId)),
		idempotencyKey: key ?? null,
	};
	if (sessionId !== undefined) {
		return await withSession(sim, sessionId, (session) => run(session, incoming));
	}
	const agent = state.ownAgent(agentUuid);
	if (!agent) return notFound(sim, 'agentNotFound');
	const person = textOrNull(placed(request, fields.person));
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
	if (command === commands.takeOver) switchMode(session, 'support', sim.dialect, emit);
	if (command === commands.release) switchMode(session, 'ai', sim.dialect, emit);
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

export const mintWsToken = onSession((sim, { sessionId, status }, { stream }) => {
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
