import pick from 'lodash/pick';
import range from 'lodash/range';
import { duration } from '../clock';
import { formatOf } from '../modelFormats';
import { quoted } from '../values';
import { versionAdvice } from './access';
import { TOO_MANY_REQUESTS } from './errors';
import type { HttpResponse, ServiceRequest } from './http';
import {
	beginsWith,
	hasErrorCode,
	isCode,
	isErrorEnvelope,
	isRelayed,
	matchesText,
	type RejectionBody,
} from './rejectionBody';
import { forEveryone, onScreenOnly, USER, type Explanation, type Resolution } from './resolution';
import { retryAfterMs } from './retry';

/** An error: how it's recognized, what happened, and what to do. */
type ErrorRow<Code = string> = Omit<Explanation, 'resolution'> &
	Resolution & {
		/** The endpoints that can return it, as `METHOD /path`. Any if not set. */
		raisedBy?: RegExp;
		/**
		 * Endpoints with the same kind of ID or session, for which the document doesn't list this error. Its text means the same
		 * there, so it explains a rejection. It doesn't prove one.
		 */
		alsoExplains?: RegExp;
		/** Limits the row to these HTTP statuses. Any if not set. */
		statuses?: readonly number[];
		/** What the error body must show. Anything if not set. */
		matches?: (rejection: RejectionBody, status: number) => boolean;
		/**
		 * This package's name of a documented error (Errors › Error texts and codes, HTTP status codes). Only some of these names
		 * are also codes of the service. A body that `matches` proves a rejection with `documentedStatuses`.
		 */
		code?: Code;
		/** They don't limit the row. Not set if the document doesn't show them: any status then proves it. */
		documentedStatuses?: readonly number[];
		/**
		 * Whether the status alone means that the request wasn't processed, from the service or a proxy (RFC 9110, RFC 6585). No other 4xx
		 * counts: after a 403, 408, or 499 of a proxy, the service may have processed the request.
		 */
		statusAloneRejects?: true;
		/** The field of the request whose value the message shows. */
		shownField?: string;
	};

/** @param endpoints in the notation of the document: `GET /v1/call/{id}` */
function at(...endpoints: string[]): RegExp {
	return new RegExp(`^(?:${endpoints.join('|').replace(/\{\w+\}/g, '[^/]+')})$`);
}

function anyOf(...patterns: RegExp[]): RegExp {
	return new RegExp(patterns.map(({ source }) => source).join('|'));
}

const CALL_PLACEMENT = at('POST /v1/call', 'POST /call');
const CALL_READS = at(
	'GET /v1/call/{id}',
	'GET /v1/call/{id}/transcript',
	'GET /v1/call/{id}/recording',
);
const CONTACT_PUSH = at('POST /v1/campaigns/{id}/contacts');
const DND_REMOVAL = at('DELETE /v1/dnd_numbers');
const CHAT = /^POST \/(?:v1\/chat\/|chat_)/;
/** Requests with a session ID in the path. */
const SESSION_ENDPOINTS = /^POST \/(?:v1\/chat\/session|chat_sessions)\/[^/]+\/./;
/** Other requests with an agent: "`403` on call placement, `agent_not_found` elsewhere" (Authentication). */
const AGENT_ENDPOINTS = anyOf(
	CONTACT_PUSH,
	CHAT,
	at('GET /v1/dnd_numbers', 'POST /v1/dnd_numbers', 'DELETE /v1/dnd_numbers'),
	at('GET /v1/calls', 'GET /v1/active_agents'),
);

const NOT_FOUND = 404;

const MISSING = /missing|empty|blank|required|not (?:given|present|provided)/i;

const AGENT_FOR_MODEL =
	'Give the ID of an agent of this account, such as "agent_5f2c9a". The name of an agent isn\'t its ID.';

const SESSION_FOR_MODEL = "Check the session ID. Sessions of another account can't be used.";

const CLOSED_FOR_GOOD: Resolution = {
	onScreen:
		'A closed session stays closed. To continue the conversation, create a session with Chat Session > Create.',
	forModel: 'A closed session stays closed. To continue the conversation, use another session.',
};

const REDIRECTED = {
	message: "The service or a proxy responded with a redirect, which isn't followed",
	onScreen:
		"Set 'Base URL' in the credential to the final URL of the service. The API token is only sent to that URL.",
	forModel: '',
	about: 'access',
} as const;

/**
 * Every error. The first row that matches applies: a documented error with a code or text of its own comes before one that
 * is recognized by its status, and both come before errors that the document doesn't name.
 */
const ROWS = [
	{
		code: 'no_outbound_number',
		raisedBy: anyOf(CALL_PLACEMENT, CONTACT_PUSH),
		matches: hasErrorCode('NO_OUTBOUND_NUMBER_CONFIGURED'),
		message: "The agent has no outbound number, so it can't place calls",
		onScreen: 'Attach an outbound number to the agent, then try again.',
		forModel: `Tell ${USER} that the agent needs an outbound number. Another agent may have one.`,
	},
	{
		code: 'tell_not_allowed_during_takeover',
		raisedBy: CHAT,
		matches: isRelayed('tell_not_allowed_during_takeover'),
		message: "A person has taken over this chat, so the agent doesn't accept this now",
		onScreen:
			'Wait until the agent has the chat again. The Chat Events Trigger reports this as mode_changed.',
		forModel: 'Wait until the agent has the chat again, then try again.',
	},
	{
		// The code `session_closed` is documented, but not as the reason of a relayed rejection. So only the text differs
		// from the row below.
		code: 'upstream_rejection',
		raisedBy: CHAT,
		matches: isRelayed('session_closed'),
		message: 'The chat session is already closed',
		...CLOSED_FOR_GOOD,
	},
	{
		code: 'upstream_rejection',
		raisedBy: CHAT,
		matches: isRelayed(),
		message: 'The chat engine rejected the request',
		...forEveryone('Check the state of the chat session and the reason that the service gives.'),
		quotesServiceInMessage: true,
	},
	{
		code: 'agent_not_in_account',
		raisedBy: CALL_PLACEMENT,
		alsoExplains: AGENT_ENDPOINTS,
		documentedStatuses: [403],
		matches: beginsWith('Agent not found or not associated with this account'),
		message: 'The account of this API token has no agent with this ID',
		onScreen:
			"Choose the agent from the list in 'Agent', or check that the credential belongs to the right account.",
		forModel: AGENT_FOR_MODEL,
	},
	{
		code: 'agent_not_found',
		raisedBy: SESSION_ENDPOINTS,
		matches: isCode('agent_not_found'),
		message: 'The service found no agent of this chat session in the account of this API token',
		onScreen:
			"Check the session ID and, if shown, 'Agent'. The credential must belong to the same account.",
		forModel: 'Check the session ID.',
	},
	{
		code: 'agent_not_found',
		raisedBy: AGENT_ENDPOINTS,
		alsoExplains: CALL_PLACEMENT,
		matches: isCode('agent_not_found'),
		message: 'The service found no such agent in the account of this API token',
		onScreen: "Check the agent ID, or choose the agent from the list in 'Agent'.",
		forModel: AGENT_FOR_MODEL,
	},
	{
		code: 'call_not_found',
		raisedBy: CALL_READS,
		matches: isCode('call_not_found'),
		message: "The service doesn't know this call",
		onScreen:
			'Check that the call_id is one that Place Call returned, and that the credential belongs to the account of the call.',
		forModel:
			'Check the call ID. Give the call_id that was returned when the call was placed. The call must belong to this account.',
	},
	{
		code: 'recording_not_available',
		raisedBy: at('GET /v1/call/{id}/recording'),
		matches: isCode('recording_not_available'),
		message: 'This call has no recording',
		...forEveryone(
			'Unanswered calls may have no recording. If the call is still in progress, try again after it ends.',
		),
	},
	{
		code: 'campaign_not_found',
		raisedBy: at('GET /v1/campaigns/{id}/status'),
		alsoExplains: CONTACT_PUSH,
		matches: beginsWith("Couldn't find Campaign"),
		message: "The service doesn't know this campaign",
		onScreen:
			"Check the ID in 'Campaign', and that the credential belongs to the account of the campaign.",
		forModel: "Check the campaign ID. It's a number, and the campaign must belong to this account.",
	},
	{
		code: 'not_on_dnd_list',
		raisedBy: DND_REMOVAL,
		matches: beginsWith('Phone number not found on DND list'),
		message: "The number isn't on the do-not-disturb list of this agent",
		onScreen: "To skip numbers that aren't on the list, turn on 'Ignore If Not Listed'.",
		forModel: "The number doesn't need to be removed.",
	},
	{
		code: 'phone_missing',
		raisedBy: DND_REMOVAL,
		// The document says only that the text names `phone`. An outage may name it too, so the text must also say that it's missing.
		matches: (rejection) => matchesText(/\bphone\b/i)(rejection) && matchesText(MISSING)(rejection),
		message: 'The service found no usable phone number in the request',
		onScreen:
			"Check 'Phone'. If it's correct, check 'Remove Number: Send Phone In' (dndRemovePhonePlacement) in the credential.",
		forModel:
			'Check the phone number. Give it with + and the country code, such as "+919876543210".',
	},
	{
		code: 'session_closed',
		raisedBy: at('POST /v1/chat/session/{id}/ws_token'),
		alsoExplains: CHAT,
		documentedStatuses: [409],
		matches: isCode('session_closed'),
		message: 'The chat session is closed',
		...CLOSED_FOR_GOOD,
	},
	{
		code: 'post_call_analysis_missing',
		raisedBy: CALL_PLACEMENT,
		documentedStatuses: [400],
		matches: beginsWith('webhook_url is set but post_call_analysis is not enabled'),
		message: 'The agent has no post-call analysis, so the service rejects the webhook URL',
		onScreen:
			"Enable post-call analysis for the agent, or clear 'Webhook URL'. To wait without it, choose 'By Reading the Call' in 'Wait for Completion'.",
		forModel: '',
	},
	{
		code: 'contact_rejected',
		raisedBy: CONTACT_PUSH,
		documentedStatuses: [400, 422],
		matches: matchesText(/contacts\[\d+\]/),
		message: 'The service rejected one of the contacts',
		onScreen: 'Correct the row that the service names, then push it again.',
		forModel:
			'Correct the contact that the service names, then push it again. A phone number needs 10 digits and starts with 6 to 9, such as "9876543210".',
	},
	{
		code: 'invalid_api_token',
		documentedStatuses: [401],
		matches: (rejection, status) =>
			(isErrorEnvelope(rejection) && status === 401) || beginsWith('Invalid API token')(rejection),
		message: 'The service rejected the API token',
		onScreen:
			"In 'API Token' of the credential, enter the 16-character token from your dashboard settings, and check 'Base URL'.",
		forModel: '',
		about: 'access',
	},
	{
		code: 'campaign_archived',
		raisedBy: CONTACT_PUSH,
		documentedStatuses: [409],
		matches: (rejection, status) =>
			status === 409 &&
			((isErrorEnvelope(rejection) && rejection.texts.length === 0) ||
				matchesText(/(?:\b|_)archived\b|read-only/i)(rejection)),
		message: "The campaign is archived, so it doesn't accept contacts",
		onScreen: "Choose another campaign in 'Campaign'. Archived campaigns are read-only.",
		forModel: "Use another campaign. Archived campaigns don't accept contacts.",
	},

	// Errors that the document doesn't name, by endpoint and status.
	{
		// "Implausible `phone_number` returns 400" (POST /v1/call, rule 1). The text isn't documented, so it must have both words.
		raisedBy: CALL_PLACEMENT,
		statuses: [400],
		matches: ({ texts: [text = '', ...others] }) =>
			others.length === 0 && /\bphone_number\b/.test(text) && /\b(?:im)?plausible\b/i.test(text),
		message: "The service rejected 'Phone Number'",
		onScreen: "Correct the number, or choose its country in 'Country'.",
		forModel: `Correct the number or its country. ${formatOf('Phone Number')} ${formatOf('Country')}`,
		shownField: 'phone_number',
	},
	{ statuses: [307, 308], statusAloneRejects: true, ...REDIRECTED },
	{ raisedBy: /^GET /, statuses: range(300, 400), statusAloneRejects: true, ...REDIRECTED },
	{
		statuses: [401],
		statusAloneRejects: true,
		message: 'The request was rejected as unauthorized (HTTP status 401)',
		onScreen:
			"Check 'API Token' and 'Base URL' in the credential. If both are correct, a proxy in front of the service may require its own sign-in.",
		forModel: '',
		about: 'access',
	},
	{
		statuses: [407],
		statusAloneRejects: true,
		message:
			"A proxy requires a sign-in, so the request didn't reach the service (HTTP status 407)",
		...onScreenOnly('Ask your n8n administrator to let requests to the service pass the proxy.'),
		about: 'access',
	},
	{
		statuses: [413],
		statusAloneRejects: true,
		message: 'The request is too large for the service or a proxy (HTTP status 413)',
		...forEveryone(
			"The request had no effect. Shorten the texts, or leave out values that aren't needed.",
		),
	},
	{
		statuses: [TOO_MANY_REQUESTS],
		statusAloneRejects: true,
		message:
			'The service or a proxy rejected the request because it receives too many (HTTP status 429)',
		onScreen:
			'The request had no effect. Try again later. Fewer requests at the same time can help.',
		forModel: 'The request had no effect. Try again later.',
		about: 'moment',
	},
	{
		// The text for an archived campaign isn't documented.
		raisedBy: CONTACT_PUSH,
		statuses: [409],
		message: 'The service reported a conflict and accepted none of these contacts',
		onScreen:
			'Check whether the campaign is archived. Archived campaigns are read-only. If the service gives another reason, correct that.',
		forModel:
			"Check whether the campaign is archived. Archived campaigns don't accept contacts. If the service gives another reason, correct that.",
	},
	{
		raisedBy: SESSION_ENDPOINTS,
		statuses: [403],
		message: "The service doesn't allow this for the chat session with your API token",
		onScreen:
			'Check the session ID, and that the credential belongs to the account of the session.',
		forModel: SESSION_FOR_MODEL,
	},
	{
		// How the service rejects an unknown session isn't documented.
		raisedBy: SESSION_ENDPOINTS,
		statuses: [404],
		message: "The service didn't find the chat session",
		onScreen:
			"Check the session ID and 'Base URL', and that the credential belongs to the account of the session. The sessionId of n8n's Chat Trigger is another ID.",
		forModel: SESSION_FOR_MODEL,
	},
	{
		// Without an ID in the request, it's about the account.
		raisedBy: at('GET /v1/active_agents'),
		statuses: [403],
		message: "The service doesn't allow this with your API token",
		...onScreenOnly('Ask your service provider why.'),
		about: 'access',
	},
	{
		statuses: [403],
		message: "The service doesn't allow this with your API token",
		onScreen: 'Check that the IDs in this node belong to the account of the credential.',
		forModel: "Check the IDs you gave. IDs of another account can't be used.",
	},
	{
		statuses: [404],
		message: 'The service returned "not found"',
		onScreen: "Check the IDs in this node and 'Base URL' in the credential.",
		forModel: 'Check the IDs you gave.',
	},
	{
		matches: ({ texts }) => texts.length === 0,
		message: 'The service rejected the request without a reason',
		onScreen: 'Check the fields of this node and the IDs in them, then try again.',
		forModel: 'Check the values you gave.',
	},
	{
		// Such as a number on the do-not-disturb list, which the document gives no status or text for.
		raisedBy: CALL_PLACEMENT,
		message: 'The service rejected the call',
		onScreen:
			"No call was placed. Correct what the service names. If the person is on a do-not-disturb list, don't call them.",
		forModel:
			'Correct what the service names, if it can be corrected. Do not call a person who is on a do-not-disturb list.',
		quotesServiceInMessage: true,
	},
] as const satisfies readonly ErrorRow[];

/** The errors that the document names. */
export type ErrorCode = Extract<(typeof ROWS)[number], { code: string }>['code'];

type Row = ErrorRow<ErrorCode>;
export const ERRORS: readonly Row[] = ROWS;

/** Any other rejection. */
const LAST: Row = {
	message: 'The service rejected the request',
	...forEveryone('Correct what the service names, then try again.'),
	quotesServiceInMessage: true,
};

/** The documented error of a body, if this endpoint can return it according to the document. */
export function documentedError(
	rejection: RejectionBody,
	status: number,
	request: ServiceRequest,
): Row | undefined {
	return ERRORS.find(
		({ code, raisedBy, matches }) =>
			code !== undefined && isEndpoint(raisedBy, request) && matches?.(rejection, status) === true,
	);
}

/** Explains a rejection of the service by its body, endpoint, and status. */
export function explainRejection(
	request: ServiceRequest,
	response: HttpResponse,
	rejection: RejectionBody,
	now: number,
): Explanation {
	const { status } = response;
	const row = ERRORS.find(
		(candidate) =>
			covers(candidate, request, status) && candidate.matches?.(rejection, status) !== false,
	);
	return explanationOf(row ?? LAST, request, response, now);
}

/** The row of a status that counts as a rejection even without an error body of the service. */
export function notProcessed(request: ServiceRequest, status: number): Row | undefined {
	return ERRORS.find((row) => row.statusAloneRejects === true && covers(row, request, status));
}

function covers(
	{ raisedBy, alsoExplains, statuses }: Row,
	request: ServiceRequest,
	status: number,
): boolean {
	const isRaised = isEndpoint(raisedBy, request);
	const isExplained = alsoExplains !== undefined && isEndpoint(alsoExplains, request);
	return (isRaised || isExplained) && statuses?.includes(status) !== false;
}

function isEndpoint(endpoints: RegExp | undefined, { method, path }: ServiceRequest): boolean {
	return endpoints === undefined || endpoints.test(`${method} ${path}`);
}

/** The texts of a row, with the value that it shows and the time of `Retry-After`. */
export function explanationOf(
	row: Row,
	{ path, body }: ServiceRequest,
	response: HttpResponse,
	now: number,
): Explanation {
	const { code, message, onScreen, forModel, shownField } = row;
	// Whatever the body says, the service also says that it receives too many requests.
	const about = response.status === TOO_MANY_REQUESTS ? 'moment' : row.about;
	const waitMs = (about === 'moment' && retryAfterMs(response, now)) || 0;
	const timed = (text: string) =>
		waitMs === 0 ? text : text.replace('later', `after ${duration(waitMs)}`);
	const isUnknownPath = response.status === NOT_FOUND && code === undefined;
	const version = isUnknownPath ? versionAdvice(baseUrlOf(response, path)) : undefined;
	return {
		...pick(row, 'quotesServiceInMessage'),
		...(about !== undefined && { about }),
		message: shownField === undefined ? message : `${message} (got ${quoted(body?.[shownField])})`,
		resolution: { onScreen: version ?? timed(onScreen), forModel: timed(forModel) },
	};
}

/** Empty if the URL of the request isn't known. */
function baseUrlOf({ url = '' }: HttpResponse, path: string): string {
	return url.slice(0, Math.max(0, url.lastIndexOf(path)));
}
