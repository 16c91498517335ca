import range from 'lodash/range';
import { duration } from '../values/clock';
import { isJsonObject, type JsonObject } from '../values/json';
import { TOO_MANY_REQUESTS, type HttpResponse, type ServiceRequest } from './http';
import type { Explanation } from './explanation';
import { retryAfterMs } from './retry';

/*
 * What a rejection of the service says to people and models. If no response proves what happened, response.ts and client.ts
 * explain that.
 */

/** An error body, and what identifies the error in it. */
export type RejectionBody = {
	/** The documented error. Undefined if the document doesn't name it. */
	code?: ErrorCode | undefined;
	/** `error`, or the texts of `errors`. */
	texts: string[];
	body: JsonObject;
};

/** An error: how it's recognized, what happened, and what to do. */
type ErrorRowWith<Code = string> = {
	message: string;
	resolution: string;
	/** The endpoints that can return it, as `METHOD /path`. Any if not set, as for a text that means the same everywhere. */
	raisedBy?: RegExp;
	/** Limits the row to these HTTP statuses. Any if not set. */
	statuses?: readonly number[];
	/** What the error body must show. Anything if not set. */
	matches?: (rejection: RejectionBody, status: number) => boolean;
	/**
	 * This package's name of an error in docs/openapi.yaml. Only some of these names are also codes of the service. A body that `matches` proves a rejection with `documentedStatuses`.
	 */
	code?: Code;
	/** They don't limit the row. Not set if the document doesn't show them: any status then proves it. */
	documentedStatuses?: readonly number[];
	/**
	 * Whether the status alone means that the request wasn't processed, from the service or a proxy (RFC 9110, RFC 6585). No other 4xx
	 * counts: after a 403, 408, or 499 of a proxy, the service may have processed the request.
	 */
	statusAloneRejects?: true;
	/** Whether the same request may succeed later. The resolution says "later", and `Retry-After` replaces it. */
	isTransient?: true;
};

/** An error code is all of `error`. Inside a longer text, it may be part of a crash report. */
const isCode =
	(code: string) =>
	({ texts }: RejectionBody) =>
		texts.some((text) => text.trim() === code);

/** `error` begins with the documented text. Details may follow on the same line. */
function beginsWith(documented: string) {
	const start = documented.toLowerCase();
	return ({ texts }: RejectionBody) =>
		texts.some((text) => {
			const line = text.trim().replaceAll('’', "'").toLowerCase();
			return line.startsWith(start) && /^(?![\w-]).*$/.test(line.slice(start.length));
		});
}

const matchesText =
	(pattern: RegExp) =>
	({ texts }: RejectionBody) =>
		texts.some((text) => pattern.test(text));

/** General conventions: `success: false`. */
function isErrorEnvelope({ body }: RejectionBody): boolean {
	return body.success === false;
}

/** `details.error_code`. */
const hasErrorCode =
	(code: string) =>
	({ body: { details } }: RejectionBody) =>
		isJsonObject(details) && details.error_code === code;

/** A rejection that the service relays from the chat engine. @param reason any if not set */
const isRelayed =
	(reason?: string) =>
	({ body: { upstream_body: upstream } }: RejectionBody) =>
		isJsonObject(upstream) &&
		upstream.state === 'rejected' &&
		(reason === undefined ? typeof upstream.reason === 'string' : upstream.reason === reason);

/** @param endpoints in the notation of the document: `GET /v1/call/{id}` */
function at(...endpoints: string[]): RegExp {
	return new RegExp(`^(?:${endpoints.join('|').replace(/\{\w+\}/g, '[^/]+')})$`);
}

function anyOf(...patterns: RegExp[]): RegExp {
	return new RegExp(patterns.map(({ source }) => source).join('|'));
}

const CALL_PLACEMENT = at('POST /v1/call', 'POST /call');
/** Requests with a call ID in the path. */
const CALL_READS = /^GET \/v1\/call\/./;
const CONTACT_PUSH = at('POST /v1/campaigns/{id}/contacts');
const DND_REMOVAL = at('DELETE /v1/dnd_numbers');
const CHAT = /^POST \/(?:v1\/chat\/|chat_)/;
/** Requests with an agent, or the session of one. Call placement has a 403 instead. */
const AGENT_ENDPOINTS = anyOf(
	CONTACT_PUSH,
	CHAT,
	at('GET /v1/dnd_numbers', 'POST /v1/dnd_numbers', 'DELETE /v1/dnd_numbers'),
	at('GET /v1/calls', 'GET /v1/active_agents'),
);
const MISSING = /missing|empty|blank|required|not (?:given|present|provided)/i;

const NO_SUCH_AGENT = {
	message: 'The account of this API token has no agent with this ID',
	resolution:
		'Use the ID of an agent of this account, such as "agent_5f2c9a", not its name. If there\'s a session ID, check it, too.',
};

/** Over the WebSocket, the document names the codes. */
export const KEY_USED = {
	message: 'The idempotency key was already used',
	resolution:
		'Use a different key for each message. Use the same key only to send the same content again in the same way.',
};

const REDIRECTED = {
	message: "The service or a proxy responded with a redirect, which isn't followed",
	resolution:
		"In n8n, set 'Base URL' in the credential to the final URL of the service. The API token is only sent to that URL.",
	statusAloneRejects: true,
} as const;

/**
 * Every error that a response shows. The first row that matches applies: a documented error with a code or text of its own comes before one that
 * is recognized by its status, and both come before errors that the document doesn't name.
 */
const ROWS = [
	{
		code: 'no_outbound_number',
		raisedBy: anyOf(CALL_PLACEMENT, CONTACT_PUSH),
		matches: hasErrorCode('NO_OUTBOUND_NUMBER_CONFIGURED'),
		message: "The agent has no outbound number, so it can't place calls",
		resolution: 'Attach an outbound number to the agent, or use another agent.',
	},
	{
		code: 'tell_not_allowed_during_takeover',
		raisedBy: CHAT,
		matches: isRelayed('tell_not_allowed_during_takeover'),
		message: "A person has taken over this chat, so the agent doesn't accept this now",
		resolution: 'Wait until the agent has the chat again.',
	},
	{
		code: 'session_closed',
		raisedBy: CHAT,
		documentedStatuses: [409],
		// The chat engine may relay it as a reason, which isn't documented.
		matches: (rejection) =>
			isCode('session_closed')(rejection) || isRelayed('session_closed')(rejection),
		message: 'The chat session is closed',
		// Also right if the session is that of a row, which nobody has to fix.
		resolution:
			'A closed session stays closed. To continue the conversation, another session is needed.',
	},
	{
		code: 'upstream_rejection',
		raisedBy: CHAT,
		matches: isRelayed(),
		message: 'The chat engine rejected the request',
		resolution: 'Check the state of the chat session and the reason that the service gives.',
	},
	{
		code: 'agent_not_in_account',
		raisedBy: CALL_PLACEMENT,
		documentedStatuses: [403],
		matches: beginsWith('Agent not found or not associated with this account'),
		...NO_SUCH_AGENT,
	},
	{
		code: 'agent_not_found',
		raisedBy: AGENT_ENDPOINTS,
		matches: isCode('agent_not_found'),
		...NO_SUCH_AGENT,
	},
	{
		code: 'call_not_found',
		raisedBy: CALL_READS,
		matches: isCode('call_not_found'),
		message: "The service doesn't know this call",
		resolution:
			'Check the call_id, which is returned when the call is placed. The call must belong to this account.',
	},
	{
		code: 'recording_not_available',
		raisedBy: at('GET /v1/call/{id}/recording'),
		matches: isCode('recording_not_available'),
		message: 'This call has no recording',
		resolution:
			'Unanswered calls may have no recording. If the call is still in progress, try again after it ends.',
	},
	{
		code: 'campaign_not_found',
		raisedBy: anyOf(CONTACT_PUSH, at('GET /v1/campaigns/{id}/status')),
		matches: beginsWith("Couldn't find Campaign"),
		message: "The service doesn't know this campaign",
		resolution:
			"Check the campaign ID. It's a number, and the campaign must belong to this account.",
	},
	{
		code: 'not_on_dnd_list',
		raisedBy: DND_REMOVAL,
		matches: beginsWith('Phone number not found on DND list'),
		message: "The number isn't on the do-not-disturb list of this agent",
		resolution:
			"The number doesn't need to be removed. To skip such numbers, turn on 'Ignore If Not Listed'.",
	},
	{
		code: 'phone_missing',
		raisedBy: DND_REMOVAL,
		// The document says only that the text names `phone`. An outage may name it too, so the text must also say that it's missing.
		matches: (rejection) => matchesText(/\bphone\b/i)(rejection) && matchesText(MISSING)(rejection),
		message: 'The service found no usable phone number in the request',
		resolution:
			'Give the number with + and the country code, such as "+919876543210". In n8n, if the number is right, check where "dnd.remove" has {phone} in \'Service Profile\' of the credential.',
	},
	{
		code: 'post_call_analysis_missing',
		raisedBy: CALL_PLACEMENT,
		documentedStatuses: [400],
		matches: beginsWith('webhook_url is set but post_call_analysis is not enabled'),
		message: 'The agent has no post-call analysis, so the service rejects the webhook URL',
		resolution: "Enable post-call analysis for the agent, or clear 'Webhook URL'.",
	},
	{
		code: 'contact_rejected',
		raisedBy: CONTACT_PUSH,
		documentedStatuses: [400, 422],
		matches: matchesText(/contacts\[\d+\]/),
		message: 'The service rejected one of the contacts',
		resolution:
			'Correct the contact that the service names, then push it again. A phone number needs 10 digits and starts with 6 to 9, such as "9876543210".',
	},
	{
		code: 'invalid_api_token',
		documentedStatuses: [401],
		matches: (rejection, status) =>
			(isErrorEnvelope(rejection) && status === 401) || beginsWith('Invalid API token')(rejection),
		message: 'The service rejected the API token',
		resolution:
			"In n8n, enter the 16-character token from your dashboard settings in 'API Token' of the credential, and check 'Base URL'.",
	},
	{
		// The document gives this status no other meaning here, and no text.
		code: 'campaign_archived',
		raisedBy: CONTACT_PUSH,
		documentedStatuses: [409],
		matches: (rejection, status) => isErrorEnvelope(rejection) && status === 409,
		message: "The campaign doesn't accept contacts, probably because it's archived",
		resolution:
			'Archived campaigns are read-only. Use another campaign, unless the service gives another reason.',
	},

	// Errors that the document doesn't name, by endpoint and status.
	{
		raisedBy: at('POST /v1/chat/inbound/async'),
		matches: (rejection) =>
			isCode('idempotency_key_reused')(rejection) ||
			isCode('idempotency_key_rail_conflict')(rejection),
		...KEY_USED,
	},
	{ statuses: [307, 308], ...REDIRECTED },
	{ raisedBy: /^GET \//, statuses: range(300, 400), ...REDIRECTED },
	{
		statuses: [401, 407],
		statusAloneRejects: true,
		message: 'The request was rejected as unauthorized',
		resolution:
			"In n8n, check 'API Token' and 'Base URL' in the credential. If both are correct, a proxy may require its own sign-in, so ask your n8n administrator.",
	},
	{
		statuses: [413],
		statusAloneRejects: true,
		message: 'The request is too large for the service or a proxy (HTTP status 413)',
		resolution:
			"The request had no effect. Shorten the texts, or leave out values that aren't needed.",
	},
	{
		statuses: [TOO_MANY_REQUESTS],
		statusAloneRejects: true,
		message:
			'The service or a proxy rejected the request because it receives too many (HTTP status 429)',
		resolution: 'The request had no effect. Try again later, with fewer requests at the same time.',
		isTransient: true,
	},
	{
		// How the service rejects an unknown session isn't documented.
		statuses: [403, 404],
		message: "The service didn't find this, or doesn't allow it with your API token",
		resolution:
			"Check the IDs, because those of another account can't be used. In n8n, also check 'Base URL' in the credential, which must not end with a version such as /v1.",
	},
	{
		// Such as a number on the do-not-disturb list, which the document gives no status or text for.
		raisedBy: CALL_PLACEMENT,
		message: 'The service rejected the call',
		resolution:
			"No call was placed. Correct what the service names, and don't call a person who is on a do-not-disturb list.",
	},
] as const satisfies readonly ErrorRowWith[];

/** The errors that the document names. */
export type ErrorCode = Extract<(typeof ROWS)[number], { code: string }>['code'];

export type ErrorRow = ErrorRowWith<ErrorCode>;
export const ERRORS: readonly ErrorRow[] = ROWS;

/** Any other rejection. */
const LAST: ErrorRow = {
	message: 'The service rejected the request',
	resolution: 'Check the values and the IDs, and correct what the service names. Then try again.',
};

/** Explains a rejection of the service by its body, endpoint, and status. */
export function errorRowOf(
	rejection: RejectionBody,
	status: number,
	request: ServiceRequest,
): ErrorRow {
	const row = ERRORS.find(
		(candidate) =>
			covers(candidate, request, status) && candidate.matches?.(rejection, status) !== false,
	);
	return row ?? LAST;
}

/** The row of a status that counts as a rejection even without an error body of the service. */
export function notProcessed(request: ServiceRequest, status: number): ErrorRow | undefined {
	return ERRORS.find((row) => row.statusAloneRejects === true && covers(row, request, status));
}

function covers(
	{ raisedBy, statuses }: ErrorRow,
	request: ServiceRequest,
	status: number,
): boolean {
	const isRaised = raisedBy?.test(`${request.method} ${request.path}`) !== false;
	return isRaised && statuses?.includes(status) !== false;
}

/** The texts of a row, with the time of `Retry-After`. */
export function explanationOf(row: ErrorRow, response: HttpResponse): Explanation {
	// Whatever the body says, the service also says that it receives too many requests.
	const isTransient = row.isTransient === true || response.status === TOO_MANY_REQUESTS;
	const waitMs = (isTransient && retryAfterMs(response)) || 0;
	const { message, resolution } = row;
	const timed =
		waitMs === 0 ? resolution : resolution.replace('later', `after ${duration(waitMs)}`);
	return { message, isTransient, resolution: timed };
}
