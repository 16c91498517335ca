import type { Refusal } from './explained';
import type { ServiceRequest } from './http';

export type Explanation = {
	what: string;
	todo: string;
	/** Whether the document names this body (Errors › Error texts and codes). */
	documented: boolean;
};

type Row = {
	/** Name of the row in the coverage table and in tests. */
	name: string;
	matches: (refusal: Refusal, status: number, request: ServiceRequest) => boolean;
	what: string;
	todo: string;
};

const says =
	(pattern: RegExp) =>
	({ texts }: Refusal) =>
		texts.some((text) => pattern.test(text));

/** The answers that a node may take for an outcome instead of a refusal. */
export const isNotOnDndList = says(/phone number not found on dnd list/i);
export const isRecordingMissing = says(/\brecording_not_available\b/);

/** Every error the document names, recognized by its body; the order decides where two would match. */
export const ERROR_TABLE: readonly Row[] = [
	{
		name: 'NO_OUTBOUND_NUMBER_CONFIGURED',
		matches: ({ errorCode }) => errorCode === 'NO_OUTBOUND_NUMBER_CONFIGURED',
		what: 'The agent has no outbound number, so it cannot call anyone',
		todo: 'Attach an outbound number to the agent in the service’s dashboard, then run this item again.',
	},
	{
		name: 'tell_not_allowed_during_takeover',
		matches: ({ upstreamReason }) => upstreamReason === 'tell_not_allowed_during_takeover',
		what: 'A person has taken over this chat, so the agent cannot be addressed now',
		todo: 'Wait until the chat is handed back to the agent (Chat Events Trigger reports it as mode_changed), then run this item again.',
	},
	{
		name: 'upstream_body',
		matches: ({ upstreamReason }) => upstreamReason !== undefined,
		what: 'The chat engine turned the request down',
		todo: 'The reason it gave is below. Check the state of the chat session and the command you sent.',
	},
	{
		name: 'Invalid API token',
		matches: (refusal, status) => status === 401 || says(/invalid api token/i)(refusal),
		what: 'The service does not accept the API token',
		todo: 'Open the credential and paste the 16-character API token from the settings page of your dashboard.',
	},
	{
		name: 'Agent not found or not associated with this account',
		matches: says(/agent not found or not associated with this account/i),
		what: 'The agent does not exist in the account of this API token',
		todo: 'Choose the agent from the list in the Agent field, or check that the credential belongs to the right account.',
	},
	{
		name: 'agent_not_found',
		matches: says(/\bagent_not_found\b/),
		what: 'The service does not find this agent, or not in the account of this API token',
		todo: 'Choose the agent from the list in the Agent field. For a chat session, check the Session ID and that the credential belongs to the account of its agent.',
	},
	{
		name: 'call_not_found',
		matches: says(/\bcall_not_found\b/),
		what: 'The service does not know this call',
		todo: 'Check the Call ID: it is the call_id that Place Call returns. A call of another account is not found either.',
	},
	{
		name: 'recording_not_available',
		matches: isRecordingMissing,
		what: 'This call has no recording',
		todo: 'Nothing to do if the call was never answered; otherwise try again once the call has ended.',
	},
	{
		name: "Couldn't find Campaign",
		matches: says(/couldn['’]t find campaign/i),
		what: 'The service does not know this campaign',
		todo: 'Check the Campaign ID: it is the number in the campaign’s address in your dashboard.',
	},
	{
		name: 'Phone number not found on DND list',
		matches: isNotOnDndList,
		what: 'The number is not on this agent’s do-not-disturb list',
		todo: 'Nothing needs removing. Turn on Treat Not Listed as Done to let re-runs pass.',
	},
	{
		name: 'text naming missing phone',
		matches: (refusal, _status, { method, path }) =>
			method === 'DELETE' && path === '/v1/dnd_numbers' && says(/\bphone\b/i)(refusal),
		what: 'The service found no phone number in the request that it could use',
		todo: 'Check Phone in this node. If it is right, open the credential and correct “Remove: Where the Phone Goes”.',
	},
	{
		name: 'session_closed',
		matches: says(/\bsession_closed\b/),
		what: 'The chat session is closed',
		todo: 'Create a new session with Chat Session › Create, then send to that one.',
	},
	{
		name: 'post_call_analysis is not enabled',
		matches: says(/webhook_url is set but post_call_analysis is not enabled/i),
		what: 'The agent has no post-call analysis, and without it the service accepts no Webhook URL',
		todo: 'Enable post-call analysis for the agent in the dashboard, or clear Webhook URL and read the call with Get Call. Wait for Completion works without it when set to By Reading the Call.',
	},
	{
		name: 'contacts[<index>]',
		matches: says(/contacts\[\d+\]/),
		what: 'The service does not accept one of the contacts',
		todo: 'Correct the row that is named below, then push it again.',
	},
	{
		name: '409 archived campaign',
		matches: (_refusal, status, { path }) => status === 409 && path.startsWith('/v1/campaigns/'),
		what: 'The campaign is archived, and an archived campaign takes no contacts',
		todo: 'Choose another campaign in Campaign ID, or bring this one back in your dashboard.',
	},
];

/** What is said when the body is not in the table; the service's own words follow it. */
const BY_STATUS: Array<[(status: number) => boolean, Omit<Explanation, 'documented'>]> = [
	[
		(status) => status === 403,
		{
			what: 'The service does not allow this with your API token',
			todo: 'Check that the agent belongs to the account of the credential.',
		},
	],
	[
		(status) => status === 404,
		{
			what: 'The service does not find what this request names',
			todo: 'Check the IDs in this node, and that Base URL in the credential is the address of the service.',
		},
	],
	[
		(status) => status === 413,
		{
			what: 'The request is larger than the service takes',
			todo: 'Send less at once: shorten the texts, or lower Contacts per Request in the options of Push Campaign Contacts.',
		},
	],
	[
		(status) => status === 429,
		{
			what: 'The service receives too many requests at the moment',
			todo: 'Nothing was done. Run this item again later, or lower Concurrency in the node’s options.',
		},
	],
];

const ANY: Omit<Explanation, 'documented'> = {
	what: 'The service did not accept the request',
	todo: 'Correct what the service names below, then run this item again.',
};

export function explainRefusal(
	refusal: Refusal,
	status: number,
	request: ServiceRequest,
): Explanation {
	const row = ERROR_TABLE.find(({ matches }) => matches(refusal, status, request));
	if (row !== undefined) return { what: row.what, todo: row.todo, documented: true };
	const [, explanation = ANY] = BY_STATUS.find(([matches]) => matches(status)) ?? [];
	return { ...explanation, documented: false };
}
