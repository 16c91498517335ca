import { isJsonObject, type JsonObject, type JsonValue } from '../values/json';
import type { ApiClient } from './client';
import type { CallRequest, ContactsRequest, LegacyMessage } from './contractTypes';
import {
	both,
	either,
	hasAnyField,
	hasAnyFieldWithin,
	hasCount,
	hasId,
	hasListOrObject,
	isAbout,
	isSameId,
	recordOf,
	saysSuccess,
	type SuccessCheck,
} from './envelope';
import { OutcomeUnknown } from './errors';
import type { ApiResponse, Method, Query, ServiceRequest } from './http';

/*
 * Every request of docs/openapi.yaml, with the body that it documents, and what proves its success.
 */

/** Fields that are added to the documented ones. */
export type Additions = { body?: JsonObject; query?: Query };

/** Adds fields to a request. They never replace its own fields. Objects are merged, lists aren't. */
export function withAdditions(request: ServiceRequest, additions: Additions): ServiceRequest {
	// A link from the service is complete.
	if (request.search !== undefined) return request;
	const body = merge(additions.body ?? {}, request.body ?? {});
	const query = { ...additions.query, ...request.query };
	return {
		...request,
		...(Object.keys(body).length > 0 && { body }),
		...(Object.keys(query).length > 0 && { query }),
	};
}

function merge(added: JsonObject, own: JsonObject): JsonObject {
	const mergedFields = Object.entries(own).map(([name, value]): [string, JsonValue] => {
		const known = Object.hasOwn(added, name) ? added[name] : undefined;
		return [name, isJsonObject(known) && isJsonObject(value) ? merge(known, value) : value];
	});
	return Object.fromEntries([...Object.entries(added), ...mergedFields]);
}

/** Encodes a segment of a path. */
const segment = encodeURIComponent;

/** A request with any values. */
function withValues(method: Method, path: string, successCheck: SuccessCheck) {
	return async (
		client: ApiClient,
		values: Additions & { search?: string } = {},
		additions: Additions = {},
	): Promise<ApiResponse> =>
		await client.send(withAdditions({ method, path, ...values }, additions), { successCheck });
}

// Calls

/**
 * `POST /v1/call`, or the legacy `POST /call` with the same contract. A `call_id` in the response proves the call.
 *
 * @param bodyNow the body for each attempt. If it throws, no further attempt is made.
 */
export async function placeCall(
	client: ApiClient,
	bodyNow: () => CallRequest | Promise<CallRequest>,
	{ legacy = false, ...additions }: Additions & { legacy?: boolean } = {},
): Promise<ApiResponse> {
	const path = legacy ? '/call' : '/v1/call';
	const request = async () =>
		withAdditions({ method: 'POST', path, body: await bodyNow() }, additions);
	return await client.send(await request(), { successCheck: hasId('call_id') }, request);
}

/** A record of another call or campaign than the requested one isn't used. */
export class OtherRecord extends OutcomeUnknown {
	constructor(kind: 'call' | 'campaign', id: string | number) {
		const message = `The service returned another ${kind} than the requested one`;
		const advice = `Nothing was changed. Report this to your service provider. The response for ${kind} "${id}" is about another ${kind}.`;
		super(message, advice, { isTransient: false });
	}
}

/** A read of one call. Its response must not be about another one. */
function callRead(part: '' | '/transcript' | '/recording', successCheck: SuccessCheck) {
	return async (
		client: ApiClient,
		callId: string,
		additions: Additions = {},
	): Promise<ApiResponse> => {
		const path = `/v1/call/${segment(callId)}${part}`;
		const request = withAdditions({ method: 'GET', path }, additions);
		const response = await client.send(request, { successCheck, isSecret: part === '/recording' });
		if (isAbout('call_id', callId)(response.body)) return response;
		throw new OtherRecord('call', callId);
	};
}

/** `GET /v1/call/{id}`: the call record. */
export const getCall = callRead('', hasAnyField('call_id'));

/** `GET /v1/call/{id}/transcript`: an empty list if none was captured. */
export const getTranscript = callRead('/transcript', hasAnyField('call_id', 'transcript'));

/** `GET /v1/call/{id}/recording`: a presigned URL, or the error `recording_not_available`. */
export const getRecording = callRead('/recording', hasAnyField('call_id', 'recording_url'));

/** `GET /v1/calls`. Only its parameter `campaign_upload_id` is documented. */
export const listCalls = withValues('GET', '/v1/calls', hasListOrObject);

/** `GET /v1/active_agents`: agents that are active and able to take calls. The response isn't documented. */
export const listActiveAgents = withValues('GET', '/v1/active_agents', hasListOrObject);

// Campaigns

/**
 * `POST /v1/campaigns/{id}/contacts`. The ID of a contact list or a count of accepted contacts proves success.
 *
 * @param body with the agent that will place the calls. `enqueue` releases the contacts to the calling queue immediately.
 * @param contacts as JSON, separated by commas, because 10,000 objects need much memory
 */
export async function addContacts(
	client: ApiClient,
	campaignId: number,
	body: Omit<ContactsRequest, 'contacts'>,
	contacts: Buffer,
	additions: Additions = {},
): Promise<ApiResponse> {
	const path = `/v1/campaigns/${segment(campaignId)}/contacts`;
	const list = { field: 'contacts', entries: contacts };
	const request = withAdditions({ method: 'POST', path, body, list }, additions);
	const successCheck = either(hasId('campaign_upload_id'), hasCount('contacts_accepted'));
	return await client.send(request, { successCheck });
}

/** `GET /v1/campaigns/{id}/status`: cheap to poll. Its response must not be about another campaign. */
export async function getCampaignStatus(
	client: ApiClient,
	campaignId: number,
	additions: Additions = {},
): Promise<ApiResponse> {
	const path = `/v1/campaigns/${segment(campaignId)}/status`;
	const request = withAdditions({ method: 'GET', path }, additions);
	const successCheck = hasAnyField('campaign', 'calls', 'uploads');
	const response = await client.send(request, { successCheck });
	const { campaign } = recordOf(response);
	const returned = isJsonObject(campaign) ? campaign.id : undefined;
	if (isSameId(returned, campaignId)) return response;
	throw new OtherRecord('campaign', campaignId);
}

// Do not disturb

const DND_PATH = '/v1/dnd_numbers';

/** `POST /v1/dnd_numbers`. The names and positions of its values and its response aren't documented. */
export const addDndNumber = withValues('POST', DND_PATH, saysSuccess);

/** `GET /v1/dnd_numbers`: the active entries of an agent, with `meta` for pagination. */
export const listDndNumbers = withValues('GET', DND_PATH, hasListOrObject);

/** `DELETE /v1/dnd_numbers`: returns `{ success: true, message }`. Whether `phone` is in the query or body isn't documented. */
export const removeDndNumber = withValues(
	'DELETE',
	DND_PATH,
	both(saysSuccess, hasAnyField('message')),
);

// Chat

/** `POST /v1/chat/session`. Its fields and its response aren't documented. */
export const createSession = withValues('POST', '/v1/chat/session', saysSuccess);

/**
 * Fields seen in the response of `POST /v1/chat/inbound`, at any depth because their position isn't documented. Without
 * `success: true`, only fields that no gateway writes: a maintenance page may also have `state` and `mode`.
 */
const SHOWS_TURN = either(
	hasAnyFieldWithin('reply', 'turn_id'),
	both(saysSuccess, hasAnyFieldWithin('state', 'mode', 'help_requested', 'message_id')),
);

/** `POST /v1/chat/inbound`: returns the agent's reply. Its fields aren't documented. */
export const sendInbound = withValues('POST', '/v1/chat/inbound', SHOWS_TURN);

/** `POST /v1/chat/inbound/async`: the reply arrives later. Accepts an `idempotency_key`. */
export const sendInboundAsync = withValues('POST', '/v1/chat/inbound/async', saysSuccess);

/** A request about a session. Its response must not be about another one. */
function onSession(root: '/v1/chat/session' | '/chat_sessions', part: string, check: SuccessCheck) {
	return async (
		client: ApiClient,
		sessionId: string,
		body: JsonObject,
		additions: Additions = {},
	): Promise<ApiResponse> => {
		const path = `${root}/${segment(sessionId)}/${part}`;
		const successCheck = both(check, isAbout('session_id', sessionId));
		return await withValues('POST', path, successCheck)(client, { body }, additions);
	};
}

/** `POST /v1/chat/session/{id}/support` with a `command`. Only `close` is documented. */
export const sendSupportCommand = onSession('/v1/chat/session', 'support', saysSuccess);

/**
 * `POST /v1/chat/session/{id}/inject_context`: appends one non-empty `context`. The returned list may word it differently,
 * because the document doesn't say that it's stored as it was sent. Without `success: true`, only the session is proof,
 * because gateways can write a `context`, too.
 */
export const injectContext = onSession(
	'/v1/chat/session',
	'inject_context',
	either(hasId('session_id'), both(saysSuccess, hasAnyField('context'))),
);

/** Short, because every user of the session waits for the token. */
const TOKEN_TIMEOUT_MS = 15_000;

/** `POST /v1/chat/session/{id}/ws_token`. With an API token, the stream must be `user`. */
export async function mintWsToken(client: ApiClient, sessionId: string): Promise<ApiResponse> {
	const path = `/v1/chat/session/${segment(sessionId)}/ws_token`;
	const body = { stream: 'user' };
	const timeoutMs = TOKEN_TIMEOUT_MS;
	const request = { method: 'POST', path, body, timeoutMs, changesNothing: true } as const;
	const successCheck = either(saysSuccess, hasAnyField('token'));
	return await client.send(request, { successCheck, isSecret: true });
}

// Legacy chat

/** `POST /chat_sessions`, with `agent_uuid` and `metadata`, which may have a `person_name`. */
export const createLegacySession = withValues('POST', '/chat_sessions', hasId('session_id'));

/** `POST /chat_messages/send_message`. */
export async function sendLegacyMessage(
	client: ApiClient,
	body: LegacyMessage,
	additions: Additions = {},
): Promise<ApiResponse> {
	const isAboutSession = isAbout('session_id', body.chat_session_id);
	const successCheck = both(hasAnyField('response', 'session_id'), isAboutSession);
	const path = '/chat_messages/send_message';
	return await withValues('POST', path, successCheck)(client, { body }, additions);
}

/** `POST /chat_sessions/{id}/close_session` with `agent_uuid`. */
export const closeLegacySession = onSession(
	'/chat_sessions',
	'close_session',
	either(hasId('session_id'), hasAnyField('summary')),
);

/** `POST /chat_sessions/{id}/pause_session` with `agent_uuid`. Gateways write a `message`, too. */
export const pauseLegacySession = onSession(
	'/chat_sessions',
	'pause_session',
	either(hasId('session_id'), both(saysSuccess, hasAnyField('message'))),
);
