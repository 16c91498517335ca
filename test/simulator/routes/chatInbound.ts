import type { InboundFields } from '../dialects/chatTypes';
import type { Incoming, Session } from '../chat/types';
import {
	agentNotFound,
	response,
	invalid,
	rejected,
	type SimulatorResponse,
} from '../http/responses';
import { bodyByNames, type Route, type SimulatorRequest } from '../http/route';
import { isNonEmptyString, type JsonObject } from '../json';
import type { SimulatorState } from '../world';
import { withSession } from './chatSession';

export function chatInboundRoutes(world: SimulatorState): Route[] {
	const { dialect } = world;
	return [
		{
			method: 'POST',
			path: '/v1/chat/inbound',
			handle: async (request) =>
				await received(world, dialect.chat.inbound, request, async (session, incoming) => {
					const emit = world.chat.emitter(session);
					const outcome = await world.chat.send(session, incoming, emit);
					return turnRejection(world, outcome) ?? response(200, dialect.chat.inboundBody(outcome));
				}),
		},
		{
			method: 'POST',
			path: '/v1/chat/inbound/async',
			handle: async (request) =>
				await received(world, dialect.chat.async, request, (session, incoming, given) =>
					acceptLater(world, session, incoming, given),
				),
		},
	];
}

type Handler = (
	session: Session,
	incoming: Incoming,
	body: JsonObject,
) => SimulatorResponse | Promise<SimulatorResponse>;

/** Reads the message with the dialect's names, and finds or creates its session. */
async function received(
	world: SimulatorState,
	names: InboundFields,
	request: SimulatorRequest,
	run: Handler,
): Promise<SimulatorResponse> {
	const { dialect, state } = world;
	const body = bodyByNames(request, names, dialect.chat.inQuery);
	if (body === undefined) return invalid(dialect, ['The body must be a JSON object']);
	const problems = messageProblems(world, names, body);
	if (problems.length > 0) return invalid(dialect, problems);
	const incoming: Incoming = {
		rail: 'rest',
		content: String(body[names.message]),
		interaction: null,
		messageId: textOrNull(body[names.messageId]),
		idempotencyKey: textOrNull(body.idempotency_key),
	};
	const sessionId = body[names.session];
	if (sessionId !== undefined) {
		return await withSession(world, sessionId, (session) => run(session, incoming, body));
	}
	const agent = state.ownAgent(body[names.agent]);
	if (!agent) return agentNotFound(dialect);
	const person = textOrNull(body[names.person]);
	const known = [...state.sessions.values()].find(
		(session) =>
			session.agentUuid === agent.agentUuid &&
			session.person === person &&
			session.status !== 'closed',
	);
	return await run(known ?? world.chat.open(agent, person), incoming, body);
}

function messageProblems(
	{ dialect }: SimulatorState,
	names: InboundFields,
	body: JsonObject,
): string[] {
	const message = body[names.message];
	if (!isNonEmptyString(message)) return [`${names.message} is required`];
	if (message.length > dialect.general.maxMessage) return [`${names.message} is too long`];
	if (body[names.session] === undefined && body[names.agent] === undefined) {
		return [`${names.session} or ${names.agent} is required`];
	}
	const key = body.idempotency_key;
	return key === undefined || isNonEmptyString(key) ? [] : ['idempotency_key must be a string'];
}

function acceptLater(
	world: SimulatorState,
	session: Session,
	incoming: Incoming,
	body: JsonObject,
): SimulatorResponse {
	const { dialect, chat } = world;
	const { from, field } = dialect.chat.deliveryUrl;
	const url = from === 'message' ? textOrNull(body[field]) : null;
	const result = chat.sendLater(session, incoming, url);
	if (!('stopped' in result)) return response(200, dialect.chat.asyncBody(result));
	return turnRejection(world, result.stopped) ?? rejected(500, 'Internal server error');
}

/** The response to a message that started no turn, otherwise undefined. */
function turnRejection(
	{ dialect }: SimulatorState,
	outcome: JsonObject,
): SimulatorResponse | undefined {
	const error = typeof outcome.error === 'string' ? outcome.error : 'Internal server error';
	switch (outcome.state) {
		case 'busy':
			return rejected(dialect.statuses.busy, error);
		case 'invalid':
			return rejected(dialect.statuses.keyReused, error);
		case 'error':
			return rejected(error === dialect.chat.closedText ? dialect.statuses.keyReused : 500, error);
		default:
			return undefined;
	}
}

function textOrNull(value: unknown): string | null {
	return typeof value === 'string' ? value : null;
}
