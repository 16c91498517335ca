import type { ApiClient } from '../client';
import {
	both,
	hasAnyField,
	hasAnyFieldWithin,
	either,
	type SuccessCheck,
	hasId,
	isAbout,
	recordOf,
	saysSuccess,
} from '../envelope';
import type { ApiResponse } from '../http';
import type {
	InjectContextRequest,
	LegacyCreateSessionRequest,
	LegacySendMessageRequest,
	LegacySessionRequest,
	WsTokenRequest,
} from '../types';
import { normalized } from '../../text';
import { type Additions, segment, withAdditions } from './endpoint';

async function post(
	client: ApiClient,
	path: string,
	values: Additions,
	additions: Additions,
	successCheck: SuccessCheck,
): Promise<ApiResponse> {
	return await client.send(
		withAdditions({ method: 'POST', path, ...values }, additions),
		successCheck,
	);
}

function sessionPath(sessionId: string, last: string): string {
	return `/v1/chat/session/${segment(sessionId)}/${last}`;
}

/**
 * Fields seen in the response of `POST /v1/chat/inbound`, at any depth because their position isn't documented. Without
 * `success: true`, only fields that no gateway writes: a maintenance page may also have `state` and `mode`.
 */
const SHOWS_TURN = either(
	hasAnyFieldWithin('reply', 'turn_id'),
	both(saysSuccess, hasAnyFieldWithin('state', 'mode', 'help_requested', 'message_id')),
);

/** A `message` alone doesn't prove success, because gateways write one too. */
const ENDED = {
	close_session: either(hasId('session_id'), hasAnyField('summary')),
	pause_session: either(hasId('session_id'), both(saysSuccess, hasAnyField('message'))),
};

/** `POST /v1/chat/session`. Its fields and its response aren't documented. */
export async function createSession(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(client, '/v1/chat/session', values, additions, saysSuccess);
}

/** `POST /v1/chat/inbound`: returns the agent's reply. Its fields aren't documented. */
export async function sendInbound(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(client, '/v1/chat/inbound', values, additions, SHOWS_TURN);
}

/** `POST /v1/chat/inbound/async`: the reply arrives later. Accepts an `idempotency_key`. */
export async function sendInboundAsync(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(client, '/v1/chat/inbound/async', values, additions, saysSuccess);
}

/** `POST /v1/chat/session/{id}/support`. Only the command `close` is documented. */
export async function sendSupportCommand(
	client: ApiClient,
	sessionId: string,
	command: string,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(
		client,
		sessionPath(sessionId, 'support'),
		{ body: { command } },
		additions,
		saysSuccess,
	);
}

/** The returned context, if any, contains the entry. White space may differ, and half of a surrogate pair can't be stored. */
function listsEntry(entry: string): SuccessCheck {
	return (body) => {
		const { context } = recordOf({ body });
		if (!Array.isArray(context)) return true;
		const wanted = comparable(entry);
		return context.some((one) => typeof one === 'string' && comparable(one).includes(wanted));
	};
}

function comparable(text: string): string {
	const storable = text.replace(/\p{Surrogate}/gu, '\ufffd');
	return normalized(storable, 'NFC').replace(/\s+/g, ' ').trim();
}

/** `POST /v1/chat/session/{id}/inject_context`: appends one entry. */
export async function injectContext(
	client: ApiClient,
	sessionId: string,
	body: InjectContextRequest,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(
		client,
		sessionPath(sessionId, 'inject_context'),
		{ body },
		additions,
		both(
			either(hasAnyField('context'), hasId('session_id')),
			both(isAbout('session_id', sessionId), listsEntry(body.context)),
		),
	);
}

/** Legacy `POST /chat_sessions`. */
export async function createLegacySession(
	client: ApiClient,
	body: LegacyCreateSessionRequest,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(client, '/chat_sessions', { body }, additions, hasId('session_id'));
}

/** Legacy `POST /chat_messages/send_message`. */
export async function sendLegacyMessage(
	client: ApiClient,
	body: LegacySendMessageRequest,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(
		client,
		'/chat_messages/send_message',
		{ body },
		additions,
		hasAnyField('response', 'session_id'),
	);
}

/** Legacy `POST /chat_sessions/{id}/close_session` and `POST /chat_sessions/{id}/pause_session`. */
export async function endLegacySession(
	client: ApiClient,
	action: 'close_session' | 'pause_session',
	sessionId: string,
	body: LegacySessionRequest,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(
		client,
		`/chat_sessions/${segment(sessionId)}/${action}`,
		{ body },
		additions,
		both(ENDED[action], isAbout('session_id', sessionId)),
	);
}

/** Short, because every user of the session waits for the token. */
const TOKEN_TIMEOUT_MS = 15_000;

/** `POST /v1/chat/session/{id}/ws_token`. With an API token, the stream must be `user`. */
export async function requestWsToken(
	client: ApiClient,
	sessionId: string,
	additions: Additions = {},
): Promise<ApiResponse> {
	const path = `/v1/chat/session/${segment(sessionId)}/ws_token`;
	const body: WsTokenRequest = { stream: 'user' };
	const timeoutMs = TOKEN_TIMEOUT_MS;
	const request = withAdditions({ method: 'POST', path, body, timeoutMs }, additions);
	return await client.send(request, either(saysSuccess, hasAnyField('token')), { isSecret: true });
}
