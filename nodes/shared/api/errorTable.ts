import type { JsonObject } from '../json';
import type { ServiceRequest } from './http';

/** The errors that the document names (Errors › Error texts and codes, HTTP status codes). */
export type ErrorCode =
	| 'no_outbound_number'
	| 'tell_not_allowed_during_takeover'
	| 'upstream_refusal'
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
	| 'contact_refused'
	| 'campaign_archived';

/** The parts of an error body by which a refusal is recognized, whatever its HTTP status. */
export type Refusal = {
	/** Which documented error it is; none where the document does not name it. */
	code?: ErrorCode;
	/** `error`, or the texts of `errors`. */
	texts: string[];
	/** `details.error_code`. */
	errorCode?: string;
	/** `upstream_body.reason`. */
	upstreamReason?: string;
	body: JsonObject;
};

export type Explanation = { what: string; resolution: string };

type Row = Explanation & {
	code: ErrorCode;
	/** Name of the row in tests. */
	name: string;
	matches: (refusal: Refusal, status: number, request: ServiceRequest) => boolean;
};

const says =
	(pattern: RegExp) =>
	({ texts }: Refusal) =>
		texts.some((text) => pattern.test(text));

/** Every error the document names, recognized by its body; the order decides where two would match. */
export const ERROR_TABLE: readonly Row[] = [
	{
		code: 'no_outbound_number',
		name: 'NO_OUTBOUND_NUMBER_CONFIGURED',
		matches: ({ errorCode }) => errorCode === 'NO_OUTBOUND_NUMBER_CONFIGURED',
		what: 'The agent has no outbound number, so it cannot call anyone',
		resolution: 'Attach an outbound number to the agent, then try again.',
	},
	{
		code: 'tell_not_allowed_during_takeover',
		name: 'tell_not_allowed_during_takeover',
		matches: ({ upstreamReason }) => upstreamReason === 'tell_not_allowed_during_takeover',
		what: 'A person has taken over this chat, so the agent cannot be addressed now',
		resolution:
			'Wait until the chat is handed back to the agent (Chat Events Trigger reports it as mode_changed), then try again.',
	},
	{
		code: 'upstream_refusal',
		name: 'upstream_body',
		matches: ({ upstreamReason }) => upstreamReason !== undefined,
		what: 'The chat engine turned the request down',
		resolution:
			'The reason it gave is below. Check the state of the chat session and the command you sent.',
	},
	{
		code: 'invalid_api_token',
		name: 'Invalid API token',
		matches: (refusal, status) => status === 401 || says(/invalid api token/i)(refusal),
		what: 'The service does not accept the API token',
		resolution:
			'Open the credential and paste the 16-character API token from the settings page of your dashboard.',
	},
	{
		code: 'agent_not_in_account',
		name: 'Agent not found or not associated with this account',
		matches: says(/agent not found or not associated with this account/i),
		what: 'The agent does not exist in the account of this API token',
		resolution:
			'Choose the agent from the list in the Agent field, or check that the credential belongs to the right account.',
	},
	{
		code: 'agent_not_found',
		name: 'agent_not_found',
		matches: says(/\bagent_not_found\b/),
		what: 'The service does not find this agent, or not in the account of this API token',
		resolution:
			'Choose the agent from the list in the Agent field. For a chat session, check the Session ID and that the credential belongs to the account of its agent.',
	},
	{
		code: 'call_not_found',
		name: 'call_not_found',
		matches: says(/\bcall_not_found\b/),
		what: 'The service does not know this call',
		resolution:
			'Check the Call ID: it is the call_id that Place Call returns. A call of another account is not found either.',
	},
	{
		code: 'recording_not_available',
		name: 'recording_not_available',
		matches: says(/\brecording_not_available\b/),
		what: 'This call has no recording',
		resolution:
			'Nothing to do if the call was never answered; otherwise try again once the call has ended.',
	},
	{
		code: 'campaign_not_found',
		name: "Couldn't find Campaign",
		matches: says(/couldn['’]t find campaign/i),
		what: 'The service does not know this campaign',
		resolution:
			'Check the Campaign ID: it is a number, and a campaign of another account is not found either.',
	},
	{
		code: 'not_on_dnd_list',
		name: 'Phone number not found on DND list',
		matches: says(/phone number not found on dnd list/i),
		what: 'The number is not on this agent’s do-not-disturb list',
		resolution: 'Nothing needs removing. Turn on Ignore If Not Listed to let re-runs pass.',
	},
	{
		code: 'phone_missing',
		name: 'text naming missing phone',
		matches: (refusal, _status, { method, path }) =>
			method === 'DELETE' && path === '/v1/dnd_numbers' && says(/\bphone\b/i)(refusal),
		what: 'The service found no phone number in the request that it could use',
		resolution:
			'Check Phone in this node. If it is right, the API mapping in the credential sends it in the wrong place: check “Remove Number: Send Phone In” (dndRemovePhonePlacement).',
	},
	{
		code: 'session_closed',
		name: 'session_closed',
		matches: says(/\bsession_closed\b/),
		what: 'The chat session is closed',
		resolution: 'Create a new session with Chat Session › Create, and use that one.',
	},
	{
		code: 'post_call_analysis_missing',
		name: 'post_call_analysis is not enabled',
		matches: says(/webhook_url is set but post_call_analysis is not enabled/i),
		what: 'The agent has no post-call analysis, and without it the service accepts no Webhook URL',
		resolution:
			'Enable post-call analysis for the agent, or clear Webhook URL and read the call with Get Call. Wait for Completion works without it when set to By Reading the Call.',
	},
	{
		code: 'contact_refused',
		name: 'contacts[<index>]',
		matches: says(/contacts\[\d+\]/),
		what: 'The service does not accept one of the contacts',
		resolution: 'Correct the row that is named below, then push it again.',
	},
	{
		code: 'campaign_archived',
		name: '409 archived campaign',
		matches: (_refusal, status, { path }) => status === 409 && path.startsWith('/v1/campaigns/'),
		what: 'The campaign is archived, and an archived campaign takes no contacts',
		resolution: 'Choose another campaign in Campaign ID. Archived campaigns are read-only.',
	},
];

/** What is said when the body is not in the table; the service's own words follow it. */
const BY_STATUS: { [status: number]: Explanation } = {
	403: {
		what: 'The service does not allow this with your API token',
		resolution: 'Check that the agent belongs to the account of the credential.',
	},
	404: {
		what: 'The service does not find what this request names',
		resolution:
			'Check the IDs in this node, and that Base URL in the credential is the address of the service.',
	},
};

const ANY: Explanation = {
	what: 'The service did not accept the request',
	resolution: 'Correct what the service names below, then try again.',
};

const WITHOUT_REASON: Explanation = {
	what: ANY.what,
	resolution:
		'It gave no reason. Check the fields of this node and what they name in the service, then try again.',
};

/** The documented error that a body is, whatever its status where that is open. */
export function documentedError(
	refusal: Refusal,
	status: number,
	request: ServiceRequest,
): (Explanation & { code: ErrorCode }) | undefined {
	return ERROR_TABLE.find(({ matches }) => matches(refusal, status, request));
}

export function explainStatus(status: number, gaveReason: boolean): Explanation {
	return BY_STATUS[status] ?? (gaveReason ? ANY : WITHOUT_REASON);
}
