import type { ApiClient } from '../client';
import {
	both,
	hasAnyField,
	hasAnyFieldWithin,
	either,
	type SuccessCheck,
	hasId,
	isAbout,
	saysSuccess,
} from '../successChecks';
import type { ApiResponse } from '../http';
import type {
	InjectContextRequest,
	LegacyCreateSessionRequest,
	LegacySendMessageRequest,
	LegacySessionRequest,
	WsTokenRequest,
} from '../types';
import { normalized } from '../../text';
import { recordIn } from '../record';
import { type Additions, segment, withAdditions } from './endpoint';

async function post(
	client: ApiClient,
	path: string,
	values: Additions,
	additions: Additions,
	evidence: SuccessCheck,
): Promise<ApiResponse> {
	return await client.send(withAdditions({ method: 'POST', path, ...values }, additions), evidence);
}

function sessionPath(sessionId: string, last: string): string {
	return `/v1/chat/session/${segment(sessionId)}/${last}`;
}

/**
 * Fields seen in the response of `POST /v1/chat/inbound`, whose place is not documented. Without `success: true`, only
 * those that no gateway writes: `state` and `mode` are also the words of a page about maintenance.
 */
const SHOWS_A_TURN = either(
	hasAnyFieldWithin('reply', 'turn_id'),
	both(saysSuccess, hasAnyFieldWithin('state', 'mode', 'help_requested', 'message_id')),
);

/** A bare `message` is no proof: gateways write one too. */
const ENDED = {
	close_session: either(hasId('session_id'), hasAnyField('summary')),
	pause_session: either(hasId('session_id'), both(saysSuccess, hasAnyField('message'))),
};

/** `POST /v1/chat/session`; what its body is called is open, and so is the answer. */
export async function createSession(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(client, '/v1/chat/session', values, additions, saysSuccess);
}

/** `POST /v1/chat/inbound`: answers with the agent's reply; what its body is called is open. */
export async function sendInbound(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(client, '/v1/chat/inbound', values, additions, SHOWS_A_TURN);
}

/** `POST /v1/chat/inbound/async`: the reply comes later; takes an `idempotency_key`. */
export async function sendInboundAsync(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(client, '/v1/chat/inbound/async', values, additions, saysSuccess);
}

/** `POST /v1/chat/session/{id}/support`; of its commands only `close` is documented. */
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

/** The list after appending, if it is given, contains the entry; white space may have been trimmed. */
function listsEntry(entry: string): SuccessCheck {
	return (body) => {
		const { context } = recordIn(body);
		if (!Array.isArray(context)) return true;
		const wanted = words(entry);
		return context.some((one) => typeof one === 'string' && words(one).includes(wanted));
	};
}

function words(text: string): string {
	return normalized(text, 'NFC').replace(/\s+/g, ' ').trim();
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

/** Legacy `POST /chat_sessions/{id}/close_session` and `…/pause_session`. */
export async function endLegacySession(
	client: ApiClient,
	how: 'close_session' | 'pause_session',
	sessionId: string,
	body: LegacySessionRequest,
	additions: Additions = {},
): Promise<ApiResponse> {
	return await post(
		client,
		`/chat_sessions/${segment(sessionId)}/${how}`,
		{ body },
		additions,
		both(ENDED[how], isAbout('session_id', sessionId)),
	);
}

/** All who want the session wait for its token, so a request that hangs makes room for the next one. */
const TOKEN_TIMEOUT_MS = 15_000;

/** `POST /v1/chat/session/{id}/ws_token`; with an API token the stream must be `user`. */
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
