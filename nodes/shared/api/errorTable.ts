import type { JsonObject } from '../json';
import type { ServiceRequest } from './http';
import { forEveryone, USER, type Resolution } from './modelAdvice';

/** The errors that the document names (Errors › Error texts and codes, HTTP status codes). */
export type ErrorCode =
	| 'no_outbound_number'
	| 'tell_not_allowed_during_takeover'
	| 'upstream_rejection'
	| 'invalid_api_token'
	| 'agent_not_in_account'
	| 'agent_not_found'
	| 'call_not_found'
	| 'recording_not_available'
	| 'campaign_not_found'
	| 'not_on_dnd_list'
	| 'phone_missing'
	| 'session_closed'
	| 'post_call_analysis_missing'
	| 'contact_rejected'
	| 'campaign_archived';

/** The parts of an error body by which an error is recognized. */
export type RejectionBody = {
	/** Which documented error it is; none where the document does not name it. */
	code?: ErrorCode;
	/** `error`, or the texts of `errors`. */
	texts: string[];
	/** `details.error_code`. */
	errorCode?: string;
	/** `upstream_body.state`. */
	upstreamState?: string;
	/** `upstream_body.reason`. */
	upstreamReason?: string;
	body: JsonObject;
};

export type Explanation = { what: string; resolution: Resolution };

type Row = Explanation & {
	code: ErrorCode;
	/** Name of the row in tests. */
	name: string;
	/** The endpoints that the document names for it, as `METHOD /path`. */
	raisedBy: RegExp;
	/** Others at which the same words mean the same: they explain a rejection there, and prove none. */
	alsoExplains?: RegExp;
	/** `open` is a status that the document calls "not shown". */
	statuses: readonly number[] | 'open';
	matches: (rejection: RejectionBody, status: number) => boolean;
};

/** @param endpoints as the document writes them */
function at(...endpoints: string[]): RegExp {
	return new RegExp(`^(?:${endpoints.join('|').replaceAll('{id}', '[^/]+')})$`);
}

function anyOf(...patterns: RegExp[]): RegExp {
	return new RegExp(patterns.map(({ source }) => source).join('|'));
}

const EVERY_ENDPOINT = /^/;
const CALL_PLACEMENT = at('POST /v1/call', 'POST /call');
const CALL_READS = at(
	'GET /v1/call/{id}',
	'GET /v1/call/{id}/transcript',
	'GET /v1/call/{id}/recording',
);
const CAMPAIGN_CONTACTS = at('POST /v1/campaigns/{id}/contacts');
const DND_REMOVAL = at('DELETE /v1/dnd_numbers');
const CHAT = /^POST \/(?:v1\/chat\/|chat_)/;
/** Requests about one chat session, which the path names. */
const NAMES_A_SESSION = /^POST \/(?:v1\/chat\/session|chat_sessions)\/[^/]+\/./;
const CHAT_MESSAGE = at(
	'POST /v1/chat/inbound',
	'POST /v1/chat/inbound/async',
	'POST /chat_messages/send_message',
);
/** "`403` on call placement, `agent_not_found` elsewhere" (Authentication): the requests that name an agent. */
const NAMES_AN_AGENT = anyOf(
	CAMPAIGN_CONTACTS,
	CHAT,
	at('GET /v1/dnd_numbers', 'POST /v1/dnd_numbers', 'DELETE /v1/dnd_numbers'),
	at('GET /v1/calls', 'GET /v1/active_agents'),
);

/** An error code is the whole of `error`: inside a longer text it is the report of a crash. */
const isCode =
	(code: string) =>
	({ texts }: RejectionBody) =>
		texts.some((text) => text.trim() === code);

/** An error text is how `error` begins; details may follow, on the same line. */
function begins(documented: string) {
	const start = documented.toLowerCase();
	return ({ texts }: RejectionBody) =>
		texts.some((text) => {
			const line = text.trim().replaceAll('’', "'").toLowerCase();
			return line.startsWith(start) && /^(?![\w-]).*$/.test(line.slice(start.length));
		});
}

const says =
	(pattern: RegExp) =>
	({ texts }: RejectionBody) =>
		texts.some((text) => pattern.test(text));

/** General conventions: `success: false`. */
export function isEnvelope({ body }: RejectionBody): boolean {
	return body.success === false;
}

function isWordless(rejection: RejectionBody): boolean {
	return isEnvelope(rejection) && rejection.texts.length === 0;
}

/** A rejection of the chat engine, passed on. */
function isRelayed({ upstreamState, upstreamReason }: RejectionBody): boolean {
	return upstreamState === 'rejected' && upstreamReason !== undefined;
}

const MISSING = /missing|empty|blank|required|not (?:given|present|provided)/i;

/** Agents are listed by a tool of their own, if there is one. */
const AGENT_FOR_MODEL =
	'Give the ID of an agent of this account, such as "agent_5f2c9a". The name of an agent is not its ID.';

/** Every error that the document names, with the endpoints that raise it; the order decides if two match. */
export const ERROR_TABLE: readonly Row[] = [
	{
		code: 'no_outbound_number',
		name: 'NO_OUTBOUND_NUMBER_CONFIGURED',
		raisedBy: anyOf(CALL_PLACEMENT, CAMPAIGN_CONTACTS),
		statuses: 'open',
		matches: ({ errorCode }) => errorCode === 'NO_OUTBOUND_NUMBER_CONFIGURED',
		what: 'The agent has no outbound number, so it cannot call anyone',
		resolution: {
			onScreen: 'Attach an outbound number to the agent, then try again.',
			forModel: `Tell ${USER} that the agent needs an outbound number. Another agent may have one.`,
		},
	},
	{
		code: 'tell_not_allowed_during_takeover',
		name: 'tell_not_allowed_during_takeover',
		raisedBy: CHAT,
		statuses: 'open',
		matches: (rejection) =>
			isRelayed(rejection) && rejection.upstreamReason === 'tell_not_allowed_during_takeover',
		what: 'A person has taken over this chat, so the agent cannot be addressed now',
		resolution: {
			onScreen:
				'Wait until the chat is handed back to the agent (Chat Events Trigger reports it as mode_changed), then try again.',
			forModel: 'Wait until the chat is handed back to the agent, then ask again.',
		},
	},
	{
		code: 'upstream_rejection',
		name: 'upstream_body',
		raisedBy: CHAT,
		statuses: 'open',
		matches: isRelayed,
		what: 'The chat engine turned the request down',
		resolution: {
			onScreen:
				'The reason it gave is below. Check the state of the chat session and the command you sent.',
			forModel: 'Check the command you gave and the state of the chat session.',
		},
	},
	{
		code: 'agent_not_in_account',
		name: 'Agent not found or not associated with this account',
		raisedBy: CALL_PLACEMENT,
		alsoExplains: NAMES_AN_AGENT,
		statuses: [403],
		matches: begins('Agent not found or not associated with this account'),
		what: 'The agent does not exist in the account of this API token',
		resolution: {
			onScreen:
				'Choose the agent from the list in the Agent field, or check that the credential belongs to the right account.',
			forModel: AGENT_FOR_MODEL,
		},
	},
	{
		code: 'agent_not_found',
		name: 'agent_not_found',
		raisedBy: NAMES_AN_AGENT,
		alsoExplains: CALL_PLACEMENT,
		statuses: 'open',
		matches: isCode('agent_not_found'),
		what: 'The service does not find this agent, or not in the account of this API token',
		resolution: {
			onScreen:
				'Choose the agent from the list in the Agent field. For a chat session, check the Session ID and that the credential belongs to the account of its agent.',
			forModel: `${AGENT_FOR_MODEL} For a chat session, check its ID.`,
		},
	},
	{
		code: 'call_not_found',
		name: 'call_not_found',
		raisedBy: CALL_READS,
		statuses: 'open',
		matches: isCode('call_not_found'),
		what: 'The service does not know this call',
		resolution: {
			onScreen:
				'Check the Call ID: it is the call_id that Place Call returns. A call of another account is not found either.',
			forModel:
				'Check the call ID: give the call_id that was returned when the call was placed. A call of another account is not found either.',
		},
	},
	{
		code: 'recording_not_available',
		name: 'recording_not_available',
		raisedBy: at('GET /v1/call/{id}/recording'),
		statuses: 'open',
		matches: isCode('recording_not_available'),
		what: 'This call has no recording',
		resolution: forEveryone(
			'Nothing to do if the call was never answered; otherwise try again once the call has ended.',
		),
	},
	{
		code: 'campaign_not_found',
		name: "Couldn't find Campaign",
		raisedBy: at('GET /v1/campaigns/{id}/status'),
		alsoExplains: CAMPAIGN_CONTACTS,
		statuses: 'open',
		matches: begins("Couldn't find Campaign"),
		what: 'The service does not know this campaign',
		resolution: forEveryone(
			'Check the Campaign ID: it is a number, and a campaign of another account is not found either.',
		),
	},
	{
		code: 'not_on_dnd_list',
		name: 'Phone number not found on DND list',
		raisedBy: DND_REMOVAL,
		statuses: 'open',
		matches: begins('Phone number not found on DND list'),
		what: 'The number is not on this agent’s do-not-disturb list',
		resolution: {
			onScreen: 'Nothing needs removing. Turn on Ignore If Not Listed to let re-runs pass.',
			forModel: 'Nothing needs removing.',
		},
	},
	{
		code: 'phone_missing',
		name: 'text naming missing phone',
		raisedBy: DND_REMOVAL,
		statuses: 'open',
		// Its text is not shown beyond that it names `phone`, as an outage may do too: it also has to say what is wrong.
		matches: (rejection) => says(/\bphone\b/i)(rejection) && says(MISSING)(rejection),
		what: 'The service found no phone number in the request that it could use',
		resolution: {
			onScreen:
				'Check Phone in this node. If it is right, the API mapping in the credential sends it in the wrong place: check “Remove Number: Send Phone In” (dndRemovePhonePlacement).',
			forModel:
				'Check the phone number: give it with + and the country code, such as "+919876543210".',
		},
	},
	{
		code: 'session_closed',
		name: 'session_closed',
		raisedBy: at('POST /v1/chat/session/{id}/ws_token'),
		alsoExplains: CHAT,
		statuses: [409],
		matches: isCode('session_closed'),
		what: 'The chat session is closed',
		resolution: {
			onScreen: 'Create a new session with Chat Session › Create, and use that one.',
			forModel: 'Use another session: a closed one stays closed.',
		},
	},
	{
		code: 'post_call_analysis_missing',
		name: 'post_call_analysis is not enabled',
		raisedBy: CALL_PLACEMENT,
		statuses: [400],
		matches: begins('webhook_url is set but post_call_analysis is not enabled'),
		what: 'The agent has no post-call analysis, and without it the service accepts no Webhook URL',
		resolution: {
			onScreen:
				'Enable post-call analysis for the agent, or clear Webhook URL and read the call with Get Call. Wait for Completion works without it when set to By Reading the Call.',
			forModel: '',
		},
	},
	{
		code: 'contact_rejected',
		name: 'contacts[<index>]',
		raisedBy: CAMPAIGN_CONTACTS,
		statuses: [400, 422],
		matches: says(/contacts\[\d+\]/),
		what: 'The service does not accept one of the contacts',
		resolution: {
			onScreen: 'Correct the row that is named below, then push it again.',
			forModel:
				'Correct the contact that the service names, then push it again. A phone number has 10 digits and begins with 6 to 9, such as "9876543210".',
		},
	},
	{
		code: 'invalid_api_token',
		name: 'Invalid API token',
		raisedBy: EVERY_ENDPOINT,
		statuses: [401],
		matches: (rejection, status) =>
			(isEnvelope(rejection) && status === 401) || begins('Invalid API token')(rejection),
		what: 'The service does not accept the API token',
		resolution: {
			onScreen:
				'Open the credential and paste the 16-character API token from the settings page of your dashboard.',
			forModel: '',
		},
	},
	{
		code: 'campaign_archived',
		name: '409 archived campaign',
		raisedBy: CAMPAIGN_CONTACTS,
		statuses: [409],
		matches: (rejection, status) =>
			status === 409 && (isWordless(rejection) || says(/\barchived\b|read-only/i)(rejection)),
		what: 'The campaign is archived, and an archived campaign takes no contacts',
		resolution: {
			onScreen: 'Choose another campaign in Campaign ID. Archived campaigns are read-only.',
			forModel: 'Use another campaign: an archived one takes no contacts.',
		},
	},
];

/** What is said when the body is not in the table; the service's own words follow it. */
const BY_STATUS: { [status: number]: Explanation } = {
	403: {
		what: 'The service does not allow this with your API token',
		resolution: {
			onScreen: 'Check that the agent belongs to the account of the credential.',
			forModel: 'Check the IDs you gave: what belongs to another account cannot be used.',
		},
	},
	404: {
		what: 'The service does not find what this request names',
		resolution: {
			onScreen:
				'Check the IDs in this node, and that Base URL in the credential is the address of the service.',
			forModel: 'Check the IDs you gave.',
		},
	},
};

const SESSION_FOR_MODEL = 'Check the session ID: a session of another account cannot be used.';

/** The same where the path names a chat session. What the service returns for one that it doesn't know is not documented. */
const SESSION_BY_STATUS: { [status: number]: Explanation } = {
	403: {
		what: "The service doesn't allow this for the chat session with your API token",
		resolution: {
			onScreen:
				'Check the Session ID, and that the credential belongs to the account of the session.',
			forModel: SESSION_FOR_MODEL,
		},
	},
	404: {
		what: "The service didn't find the chat session",
		resolution: {
			onScreen:
				"Check the Session ID, that the credential belongs to the account of the session, and 'Base URL' in the credential.",
			forModel: SESSION_FOR_MODEL,
		},
	},
};

/** A message that is sent by a request names a session, an agent, or both. */
const MESSAGE_NOT_ALLOWED: Explanation = {
	what: "The service doesn't allow this with your API token",
	resolution: {
		onScreen:
			'Check that the chat session and the agent of this item belong to the account of the credential.',
		forModel: 'Check the IDs you gave: what belongs to another account cannot be used.',
	},
};

const ANY: Explanation = {
	what: 'The service did not accept the request',
	resolution: {
		onScreen: 'Correct what the service names below, then try again.',
		forModel: 'Correct what the service names, then ask again.',
	},
};

const WITHOUT_REASON: Explanation = {
	what: ANY.what,
	resolution: {
		onScreen:
			'It gave no reason. Check the fields of this node and what they name in the service, then try again.',
		forModel: 'It gave no reason. Check the values you gave.',
	},
};

/** A `409` that does not say that the campaign is archived; which words do is not documented. */
const CONTACTS_CONFLICT: Explanation = {
	what: 'The service reports a conflict, so it accepted none of these contacts',
	resolution: {
		onScreen:
			'Check whether the campaign is archived: archived campaigns are read-only. If the service names another reason below, correct that.',
		forModel:
			'Check whether the campaign is archived: an archived campaign takes no contacts. If the service names another reason, correct that.',
	},
};

/** The documented error that a body is, if the document names this endpoint for it. */
export function documentedError(
	rejection: RejectionBody,
	status: number,
	request: ServiceRequest,
): Row | undefined {
	return ERROR_TABLE.find(
		({ raisedBy, matches }) => raisedBy.test(endpointOf(request)) && matches(rejection, status),
	);
}

export function isDocumentedAt({ statuses }: Row, status: number): boolean {
	return statuses === 'open' || statuses.includes(status);
}

/** What a rejection means by its words, as far as they are documented. */
export function explainWords(
	rejection: RejectionBody,
	status: number,
	request: ServiceRequest,
): Explanation | undefined {
	const endpoint = endpointOf(request);
	return ERROR_TABLE.find(
		({ raisedBy, alsoExplains, matches }) =>
			(raisedBy.test(endpoint) || alsoExplains?.test(endpoint) === true) &&
			matches(rejection, status),
	);
}

/** @param gaveReason whether the body has words, which follow */
export function explainStatus(
	request: ServiceRequest,
	status: number,
	gaveReason: boolean,
): Explanation {
	const endpoint = endpointOf(request);
	if (status === 409 && CAMPAIGN_CONTACTS.test(endpoint)) return CONTACTS_CONFLICT;
	const ofSession = NAMES_A_SESSION.test(endpoint) ? SESSION_BY_STATUS[status] : undefined;
	if (ofSession !== undefined) return ofSession;
	if (status === 403 && CHAT_MESSAGE.test(endpoint)) return MESSAGE_NOT_ALLOWED;
	return BY_STATUS[status] ?? (gaveReason ? ANY : WITHOUT_REASON);
}

function endpointOf({ method, path }: ServiceRequest): string {
	return `${method} ${path}`;
}
