import type { Session } from '../chat/types';
import {
	agentNotFound,
	response,
	invalid,
	ok,
	rejected,
	type SimulatorResponse,
} from '../http/responses';
import { bodyByNames, type Route, type SimulatorRequest } from '../http/route';
import { isNonEmptyString, isObject, type JsonObject } from '../json';
import type { SimulatorState } from '../world';

const SESSION = '/v1/chat/session/:id';

export function chatSessionRoutes(world: SimulatorState): Route[] {
	return [
		{ method: 'POST', path: '/v1/chat/session', handle: (request) => create(world, request) },
		{
			method: 'POST',
			path: `${SESSION}/inject_context`,
			handle: async ({ params, body }) =>
				await withSession(world, params.id, (session) => inject(world, session, body)),
		},
		{
			method: 'POST',
			path: `${SESSION}/ws_token`,
			handle: async ({ params, body, headers }) =>
				await withSession(world, params.id, (session) =>
					mint(world, session, body, world.otherCredential(headers)),
				),
		},
	];
}

/** A session as returned by create. */
function sessionView(session: Session, { dialect, state }: SimulatorState): JsonObject {
	return {
		session_id: session.sessionId,
		agent_uuid: session.agentUuid,
		agent_name: state.agents.get(session.agentUuid)?.name,
		status: session.status === 'open' ? dialect.chat.openState : session.status,
		mode: session.mode,
		created_at: session.createdAt,
	};
}

function create(world: SimulatorState, request: SimulatorRequest): SimulatorResponse {
	const { dialect, state, chat } = world;
	const names = dialect.chat.create;
	const body = bodyByNames(request, names, dialect.chat.inQuery);
	if (body === undefined) return invalid(dialect, ['The body must be a JSON object']);
	const { [names.agent]: agentUuid, [names.person]: person, [names.metadata]: metadata } = body;
	if (!isNonEmptyString(agentUuid)) return invalid(dialect, [`${names.agent} is required`]);
	if (metadata !== undefined && !isObject(metadata)) {
		return invalid(dialect, [`${names.metadata} must be an object`]);
	}
	const agent = state.ownAgent(agentUuid);
	if (!agent) return agentNotFound(dialect);
	const session = chat.open(agent, typeof person === 'string' ? person : null);
	const { from, field } = dialect.chat.deliveryUrl;
	const url = from === 'session' ? body[field] : undefined;
	if (isNonEmptyString(url)) session.deliveryUrl = url;
	return response(200, dialect.chat.createBody(sessionView(session, world)));
}

function inject({ dialect }: SimulatorState, session: Session, body: unknown): SimulatorResponse {
	const context = isObject(body) ? body.context : undefined;
	if (!isNonEmptyString(context)) return invalid(dialect, ['context must be a non-empty string']);
	if (context.length > dialect.general.maxContext) return invalid(dialect, ['context is too long']);
	session.context.push(context);
	return ok({ session_id: session.sessionId, context: session.context });
}

function mint(
	world: SimulatorState,
	session: Session,
	body: unknown,
	otherCredential: boolean,
): SimulatorResponse {
	const { dialect, tokens, baseUrl } = world;
	const stream = isObject(body) ? body.stream : undefined;
	const allowed = otherCredential ? dialect.general.otherCredential?.stream : 'user';
	if (typeof stream !== 'string' || stream !== allowed)
		return rejected(403, dialect.chat.streamText);
	if (session.status === 'closed') return rejected(409, 'session_closed');
	const { token, expiresAt } = tokens.mint(session.sessionId, stream);
	const query = dialect.socket.urlQuery;
	const path = `/v1/chat/session/${session.sessionId}/user-stream${query === '' ? '' : `?${query}`}`;
	return ok({
		token,
		ws_url: `${baseUrl.replace(/^http/, 'ws')}${path}`,
		expires_at: Math.floor(expiresAt / 1000),
		stream,
	});
}

/** Runs with the session of the path, or responds that it's unknown. */
export async function withSession(
	world: SimulatorState,
	id: unknown,
	run: (session: Session) => SimulatorResponse | Promise<SimulatorResponse>,
): Promise<SimulatorResponse> {
	const { state, dialect } = world;
	// A UUID is the same in upper and lower case.
	const session = typeof id === 'string' ? state.sessions.get(id.toLowerCase()) : undefined;
	if (!session) return rejected(dialect.statuses.sessionNotFound, dialect.chat.unknownSession);
	return state.ownAgent(session.agentUuid) ? await run(session) : agentNotFound(dialect);
}
