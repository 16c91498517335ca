import { forEveryone, USER, type Explanation } from './resolution';
import {
	beginsWith,
	type ErrorCode,
	isCode,
	isErrorEnvelope,
	isRelayed,
	isWithoutText,
	matchesText,
	type RejectionBody,
} from './rejectionBody';

export type DocumentedError = Explanation & {
	code: ErrorCode;
	/** The endpoints that can return it according to the document, as `METHOD /path`. */
	raisedBy: RegExp;
	/** Other endpoints where the same text has the same meaning. It explains a rejection there, but doesn't prove one. */
	alsoExplains?: RegExp;
	/** `unknown` if the document calls the status "not shown". */
	statuses: readonly number[] | 'unknown';
	matches: (rejection: RejectionBody, status: number) => boolean;
};

type UndocumentedError = Explanation & { raisedBy: RegExp; status: number };

/** @param endpoints in the notation of the document: `GET /v1/call/{id}` */
function at(...endpoints: string[]): RegExp {
	return new RegExp(`^(?:${endpoints.join('|').replaceAll('{id}', '[^/]+')})$`);
}

function anyOf(...patterns: RegExp[]): RegExp {
	return new RegExp(patterns.map(({ source }) => source).join('|'));
}

const EVERY_ENDPOINT = /^/;
export const CALL_PLACEMENT = at('POST /v1/call', 'POST /call');
const CALL_READS = at(
	'GET /v1/call/{id}',
	'GET /v1/call/{id}/transcript',
	'GET /v1/call/{id}/recording',
);
const CAMPAIGN_CONTACTS = at('POST /v1/campaigns/{id}/contacts');
const DND_REMOVAL = at('DELETE /v1/dnd_numbers');
const CHAT = /^POST \/(?:v1\/chat\/|chat_)/;
/** Requests with a session ID in the path. */
const SESSION_ENDPOINTS = /^POST \/(?:v1\/chat\/session|chat_sessions)\/[^/]+\/./;
const CHAT_MESSAGE = at(
	'POST /v1/chat/inbound',
	'POST /v1/chat/inbound/async',
	'POST /chat_messages/send_message',
);
/** Other requests with an agent: "`403` on call placement, `agent_not_found` elsewhere" (Authentication). */
const AGENT_ENDPOINTS = anyOf(
	CAMPAIGN_CONTACTS,
	CHAT,
	at('GET /v1/dnd_numbers', 'POST /v1/dnd_numbers', 'DELETE /v1/dnd_numbers'),
	at('GET /v1/calls', 'GET /v1/active_agents'),
);

const MISSING = /missing|empty|blank|required|not (?:given|present|provided)/i;

const AGENT_FOR_MODEL =
	'Give the ID of an agent of this account, such as "agent_5f2c9a". The name of an agent isn\'t its ID.';

/** Every documented error with its endpoints (Errors › Error texts and codes). The first match wins. */
export const ERROR_TABLE: readonly DocumentedError[] = [
	{
		code: 'no_outbound_number',
		raisedBy: anyOf(CALL_PLACEMENT, CAMPAIGN_CONTACTS),
		statuses: 'unknown',
		matches: ({ errorCode }) => errorCode === 'NO_OUTBOUND_NUMBER_CONFIGURED',
		message: "The agent has no outbound number, so it can't place calls",
		resolution: {
			onScreen: 'Attach an outbound number to the agent, then try again.',
			forModel: `Tell ${USER} that the agent needs an outbound number. Another agent may have one.`,
		},
	},
	{
		code: 'tell_not_allowed_during_takeover',
		raisedBy: CHAT,
		statuses: 'unknown',
		matches: (rejection) =>
			isRelayed(rejection) && rejection.upstreamReason === 'tell_not_allowed_during_takeover',
		message: "A person has taken over this chat, so the agent doesn't accept this now",
		resolution: {
			onScreen:
				'Wait until the agent has the chat again. The Chat Events Trigger reports this as mode_changed.',
			forModel: 'Wait until the agent has the chat again, then try again.',
		},
	},
	{
		// The code `session_closed` is documented, but not as the reason of a relayed rejection. So only the text differs
		// from the row below.
		code: 'upstream_rejection',
		raisedBy: CHAT,
		statuses: 'unknown',
		matches: (rejection) => isRelayed(rejection) && rejection.upstreamReason === 'session_closed',
		message: 'The chat session is already closed',
		resolution: {
			onScreen:
				'A closed session stays closed. To continue the conversation, create a session with Chat Session > Create.',
			forModel: 'A closed session stays closed. To continue the conversation, use another session.',
		},
	},
	{
		code: 'upstream_rejection',
		raisedBy: CHAT,
		statuses: 'unknown',
		matches: isRelayed,
		message: 'The chat engine rejected the request',
		resolution: forEveryone(
			'Check the state of the chat session and the reason that the service gives.',
		),
		quotesService: true,
	},
	{
		code: 'agent_not_in_account',
		raisedBy: CALL_PLACEMENT,
		alsoExplains: AGENT_ENDPOINTS,
		statuses: [403],
		matches: beginsWith('Agent not found or not associated with this account'),
		message: 'The account of this API token has no agent with this ID',
		resolution: {
			onScreen:
				"Choose the agent from the list in 'Agent', or check that the credential belongs to the right account.",
			forModel: AGENT_FOR_MODEL,
		},
	},
	{
		code: 'agent_not_found',
		raisedBy: SESSION_ENDPOINTS,
		statuses: 'unknown',
		matches: isCode('agent_not_found'),
		message: 'The service found no agent of this chat session in the account of this API token',
		resolution: {
			onScreen:
				"Check 'Session ID' and, if shown, 'Agent'. The credential must belong to the same account.",
			forModel: 'Check the session ID.',
		},
	},
	{
		code: 'agent_not_found',
		raisedBy: AGENT_ENDPOINTS,
		alsoExplains: CALL_PLACEMENT,
		statuses: 'unknown',
		matches: isCode('agent_not_found'),
		message: 'The service found no such agent in the account of this API token',
		resolution: {
			onScreen: "Check the agent ID, or choose the agent from the list in 'Agent'.",
			forModel: AGENT_FOR_MODEL,
		},
	},
	{
		code: 'call_not_found',
		raisedBy: CALL_READS,
		statuses: 'unknown',
		matches: isCode('call_not_found'),
		message: "The service doesn't know this call",
		resolution: {
			onScreen:
				"Check 'Call ID'. Enter the call_id that Place Call returns, and check that the credential belongs to the account of the call.",
			forModel:
				'Check the call ID. Give the call_id that was returned when the call was placed. The call must belong to this account.',
		},
	},
	{
		code: 'recording_not_available',
		raisedBy: at('GET /v1/call/{id}/recording'),
		statuses: 'unknown',
		matches: isCode('recording_not_available'),
		message: 'This call has no recording',
		resolution: forEveryone(
			'Unanswered calls may have no recording. If the call is still in progress, try again after it ends.',
		),
	},
	{
		code: 'campaign_not_found',
		raisedBy: at('GET /v1/campaigns/{id}/status'),
		alsoExplains: CAMPAIGN_CONTACTS,
		statuses: 'unknown',
		matches: beginsWith("Couldn't find Campaign"),
		message: "The service doesn't know this campaign",
		resolution: {
			onScreen:
				"Check the ID in 'Campaign', and that the credential belongs to the account of the campaign.",
			forModel:
				"Check the campaign ID. It's a number, and the campaign must belong to this account.",
		},
	},
	{
		code: 'not_on_dnd_list',
		raisedBy: DND_REMOVAL,
		statuses: 'unknown',
		matches: beginsWith('Phone number not found on DND list'),
		message: "The number isn't on the do-not-disturb list of this agent",
		resolution: {
			onScreen: "To skip numbers that aren't on the list, turn on 'Ignore If Not Listed'.",
			forModel: "The number doesn't need to be removed.",
		},
	},
	{
		code: 'phone_missing',
		raisedBy: DND_REMOVAL,
		statuses: 'unknown',
		// The document says only that the text names `phone`. An outage may name it too, so the text must also say that it's missing.
		matches: (rejection) => matchesText(/\bphone\b/i)(rejection) && matchesText(MISSING)(rejection),
		message: 'The service found no usable phone number in the request',
		resolution: {
			onScreen:
				"Check 'Phone'. If it's correct, check 'Remove Number: Send Phone In' (dndRemovePhonePlacement) in the credential.",
			forModel:
				'Check the phone number. Give it with + and the country code, such as "+919876543210".',
		},
	},
	{
		code: 'session_closed',
		raisedBy: at('POST /v1/chat/session/{id}/ws_token'),
		alsoExplains: CHAT,
		statuses: [409],
		matches: isCode('session_closed'),
		message: 'The chat session is closed',
		resolution: {
			onScreen: 'Create a session with Chat Session > Create, and use its ID.',
			forModel: 'Use another chat session.',
		},
	},
	{
		code: 'post_call_analysis_missing',
		raisedBy: CALL_PLACEMENT,
		statuses: [400],
		matches: beginsWith('webhook_url is set but post_call_analysis is not enabled'),
		message: 'The agent has no post-call analysis, so the service rejects the webhook URL',
		resolution: {
			onScreen:
				"Enable post-call analysis for the agent, or clear 'Webhook URL'. To wait without it, set 'Wait for Completion' to 'By Reading the Call'.",
			forModel: '',
		},
	},
	{
		code: 'contact_rejected',
		raisedBy: CAMPAIGN_CONTACTS,
		statuses: [400, 422],
		matches: matchesText(/contacts\[\d+\]/),
		message: 'The service rejected one of the contacts',
		resolution: {
			onScreen: 'Correct the row that the service names, then push it again.',
			forModel:
				'Correct the contact that the service names, then push it again. A phone number needs 10 digits and starts with 6 to 9, such as "9876543210".',
		},
	},
	{
		code: 'invalid_api_token',
		raisedBy: EVERY_ENDPOINT,
		statuses: [401],
		matches: (rejection, status) =>
			(isErrorEnvelope(rejection) && status === 401) || beginsWith('Invalid API token')(rejection),
		message: 'The service rejected the API token',
		resolution: {
			onScreen:
				"In 'API Token' of the credential, enter the 16-character token from your dashboard settings, and check 'Base URL'.",
			forModel: '',
		},
	},
	{
		code: 'campaign_archived',
		raisedBy: CAMPAIGN_CONTACTS,
		statuses: [409],
		matches: (rejection, status) =>
			status === 409 &&
			(isWithoutText(rejection) || matchesText(/\barchived\b|read-only/i)(rejection)),
		message: "The campaign is archived, so it doesn't accept contacts",
		resolution: {
			onScreen: "Choose another campaign in 'Campaign'. Archived campaigns are read-only.",
			forModel: "Use another campaign. Archived campaigns don't accept contacts.",
		},
	},
];

const SESSION_FOR_MODEL = "Check the session ID. Sessions of another account can't be used.";
const NOT_ALLOWED = "The service doesn't allow this with your API token";
const IDS_FOR_MODEL = "Check the IDs you gave. IDs of another account can't be used.";

/** Other errors, by endpoint and status. The service's own text follows. The first match wins. */
export const UNDOCUMENTED_ERRORS: readonly UndocumentedError[] = [
	{
		// The text for an archived campaign isn't documented.
		raisedBy: CAMPAIGN_CONTACTS,
		status: 409,
		message: 'The service reported a conflict and accepted none of these contacts',
		resolution: {
			onScreen:
				'Check whether the campaign is archived. Archived campaigns are read-only. If the service gives another reason, correct that.',
			forModel:
				"Check whether the campaign is archived. Archived campaigns don't accept contacts. If the service gives another reason, correct that.",
		},
	},
	{
		raisedBy: SESSION_ENDPOINTS,
		status: 403,
		message: "The service doesn't allow this for the chat session with your API token",
		resolution: {
			onScreen:
				"Check 'Session ID', and that the credential belongs to the account of the session.",
			forModel: SESSION_FOR_MODEL,
		},
	},
	{
		// How the service rejects an unknown session isn't documented.
		raisedBy: SESSION_ENDPOINTS,
		status: 404,
		message: "The service didn't find the chat session",
		resolution: {
			onScreen:
				"Check 'Session ID' and 'Base URL', and that the credential belongs to the account of the session.",
			forModel: SESSION_FOR_MODEL,
		},
	},
	{
		// These requests have a session ID, an agent ID, or both.
		raisedBy: CHAT_MESSAGE,
		status: 403,
		message: NOT_ALLOWED,
		resolution: {
			onScreen:
				'Check that the chat session and the agent of this item belong to the account of the credential.',
			forModel: IDS_FOR_MODEL,
		},
	},
	{
		raisedBy: EVERY_ENDPOINT,
		status: 403,
		message: NOT_ALLOWED,
		resolution: {
			onScreen: 'Check that the IDs in this node belong to the account of the credential.',
			forModel: IDS_FOR_MODEL,
		},
	},
	{
		raisedBy: EVERY_ENDPOINT,
		status: 404,
		message: 'The service returned "not found"',
		resolution: {
			onScreen: "Check the IDs in this node and 'Base URL' in the credential.",
			forModel: 'Check the IDs you gave.',
		},
	},
];
