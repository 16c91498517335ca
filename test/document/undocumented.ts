/** How the package treats a place that the document leaves open. */
type Treatment =
	/** The user says it, in the credential or in a parameter of the node. */
	| 'asked'
	/** It reaches the user as the service gave it. */
	| 'passedThrough'
	/** Nothing in the package depends on it. */
	| 'notReliedOn';

type UndocumentedDetail = {
	/** Words of the document that stand at this place and nowhere else. */
	quote: string;
	section: string;
	treatment: Treatment;
	how: string;
};

/** Every place where the service's document says "not shown" or "not stated", in its order. */
export const UNDOCUMENTED_DETAILS = {
	agentFields: {
		quote: 'Agent record fields: not shown',
		section: 'Resources › Agent',
		treatment: 'passedThrough',
		how: 'Agents → Get Many Active puts out each record as it comes; only agent_uuid and agent_name are read.',
	},
	callValues: {
		quote: '`call_ended_by` and `call_ended_reason` beyond those observed above: not shown',
		section: 'Resources › Call record',
		treatment: 'passedThrough',
		how: 'Every value is data. Which status ends a wait or passes a filter is a parameter.',
	},
	transcriptRoles: {
		quote: 'Other role values: not shown',
		section: 'Resources › Transcript',
		treatment: 'passedThrough',
		how: 'Roles come out as they are, in the readable text too.',
	},
	retryDelayUnit: {
		quote: 'unit is not stated',
		section: 'Resources › Campaign',
		treatment: 'passedThrough',
		how: 'retry_delay comes out as it is, never converted.',
	},
	campaignWindow: {
		quote: 'Field names of the call window and calling days: not shown',
		section: 'Resources › Campaign',
		treatment: 'passedThrough',
		how: 'Campaign Status puts out every field of the answer.',
	},
	campaignTransitions: {
		quote: 'triggers activation, pausing and archiving, and the permitted source states: not shown',
		section: 'States › Campaign status',
		treatment: 'notReliedOn',
		how: 'No node changes a campaign’s status; a change between any two statuses is reported.',
	},
	callTransitions: {
		quote: 'Transitions: not shown. A call created',
		section: 'States › Call status',
		treatment: 'asked',
		how: 'Place Call → Wait for Completion asks which statuses count as finished.',
	},
	openSessionState: {
		quote: 'The name of the normal open state: not shown',
		section: 'States › Chat session',
		treatment: 'notReliedOn',
		how: 'No node asks for a session’s state by name.',
	},
	callList: {
		quote: 'Names of the other filter parameters and the response shape: not shown',
		section: 'Endpoints › GET /v1/calls',
		treatment: 'asked',
		how: 'The credential names the filters, the list’s place and the way of paging.',
	},
	activeAgents: {
		quote:
			'used to validate an `agent_uuid` before a call. Request parameters and response shape: not shown',
		section: 'Endpoints › GET /v1/active_agents',
		treatment: 'asked',
		how: 'Agents are found by their documented agent_uuid, wherever it stands, or where the credential says; parameters can be added.',
	},
	dndSkipped: {
		quote: 'array of objects (object fields: not shown)',
		section: 'Endpoints › POST /v1/campaigns/{id}/contacts',
		treatment: 'passedThrough',
		how: 'dnd_skipped comes out as it is.',
	},
	warnings: {
		quote: '`warnings` | array (item shape: not shown)',
		section: 'Endpoints › POST /v1/campaigns/{id}/contacts',
		treatment: 'passedThrough',
		how: 'warnings comes out as it is.',
	},
	dndAdd: {
		quote: "Adds a number to an agent's list. Request and response shape: not shown",
		section: 'Endpoints › POST /v1/dnd_numbers',
		treatment: 'asked',
		how: 'The credential says where the values go and how they are named; the answer passes through.',
	},
	dndList: {
		quote: 'Names of the query parameters (agent, phone filter, page, per-page): not shown',
		section: 'Endpoints › GET /v1/dnd_numbers',
		treatment: 'asked',
		how: 'The credential names the parameters.',
	},
	dndRemove: {
		quote: 'carried (query or body), and any other parameter: not shown',
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		treatment: 'asked',
		how: 'The credential says where phone and agent go and how the agent is named; phone is documented.',
	},
	chatCreate: {
		quote: 'Creates a session. Request and response shape: not shown',
		section: 'Endpoints › POST /v1/chat/session',
		treatment: 'asked',
		how: 'The credential names the values; the answer passes through.',
	},
	chatInbound: {
		quote: '`message_id`. Request fields: not shown',
		section: 'Endpoints › POST /v1/chat/inbound',
		treatment: 'asked',
		how: 'The credential names the values.',
	},
	chatAsync: {
		quote: 'Request fields and immediate response shape: not shown',
		section: 'Endpoints › POST /v1/chat/inbound/async',
		treatment: 'asked',
		how: 'The credential names the values; the answer passes through.',
	},
	supportCommand: {
		quote: 'Other commands, body fields and response: not shown',
		section: 'Endpoints › POST /v1/chat/session/{id}/support',
		treatment: 'asked',
		how: 'Chat Session → Support Command takes any command and further body fields; the answer passes through.',
	},
	interactiveMessage: {
		quote: 'the shape of an outgoing interactive message: not shown',
		section: 'Endpoints › Legacy chat endpoints',
		treatment: 'passedThrough',
		how: 'What arrives comes out as it is; Chat Send → Answer Interaction takes the IDs as parameters.',
	},
	otherStreams: {
		quote: 'Credentials other than `API-Token` and the streams they may request: not shown',
		section: 'Authentication',
		treatment: 'notReliedOn',
		how: 'The package holds an API token and asks for the stream user alone.',
	},
	completionDelivery: {
		quote: 'Delivery details (headers, signature, retries, expected response): not shown',
		section: 'Events › Call completion webhook',
		treatment: 'notReliedOn',
		how: 'Only call_id is taken from the delivery; the call is read back with the token.',
	},
	chatDelivery: {
		quote: 'Its payload and how it is configured: not shown',
		section: 'Events › Chat delivery webhook',
		treatment: 'passedThrough',
		how: 'Chat Delivery Trigger puts out the payload as it is; the key against duplicates is a parameter.',
	},
	eventReasons: {
		quote: 'Values of `reason` for `session_reactivated` and `auto_resume_fired`: not shown',
		section: 'Events › Chat WebSocket',
		treatment: 'passedThrough',
		how: 'Every reason is data.',
	},
	errorStatuses: {
		quote: 'HTTP status of the following bodies: not shown',
		section: 'Errors',
		treatment: 'notReliedOn',
		how: 'These errors are recognized by their body at any status.',
	},
	errorCodes: {
		quote: 'The complete list of error codes: not shown',
		section: 'Errors',
		treatment: 'passedThrough',
		how: 'An unknown error is shown in the service’s own words.',
	},
	rateLimits: {
		quote: 'Rate limits: not shown',
		section: 'Limits',
		treatment: 'notReliedOn',
		how: 'Concurrency is bounded and adjustable; 429 and Retry-After are honoured.',
	},
	lengths: {
		quote: 'other request fields or body sizes: not shown',
		section: 'Limits',
		treatment: 'notReliedOn',
		how: 'No length is checked but the documented ones.',
	},
	dndPageSize: {
		quote: 'Default page size of the DND list: not shown',
		section: 'Limits',
		treatment: 'notReliedOn',
		how: 'Paging follows meta.total_pages.',
	},
	versionSelection: {
		quote: 'A version-selection header or parameter: not shown',
		section: 'Versioning',
		treatment: 'notReliedOn',
		how: 'None is sent; Additional Query Parameters can add one.',
	},
	legacyRemoval: {
		quote: 'The date on which legacy endpoints are removed: not shown',
		section: 'Versioning',
		treatment: 'notReliedOn',
		how: 'Legacy operations are off by default and name what replaces them.',
	},
} as const satisfies Record<string, UndocumentedDetail>;
