/** How the package treats an undocumented detail. */
type Treatment =
	/** The user enters it, in the credential or in a parameter of the node. */
	| 'configured'
	/** The user gets it unchanged. */
	| 'passedThrough'
	/** Nothing in the package depends on it. */
	| 'notReliedOn';

type UndocumentedDetail = {
	/** Words that are in the document once, at this detail. */
	quote: string;
	section: string;
	treatment: Treatment;
	how: string;
};

/** Every "not shown" or "not stated" of the service's document, in its order. */
export const UNDOCUMENTED_DETAILS = {
	agentFields: {
		quote: 'Agent record fields: not shown',
		section: 'Resources › Agent',
		treatment: 'passedThrough',
		how: 'Agents → Get Many Active returns each record unchanged. Only agent_uuid and agent_name are read.',
	},
	callValues: {
		quote: '`call_ended_by` and `call_ended_reason` beyond those observed above: not shown',
		section: 'Resources › Call record',
		treatment: 'passedThrough',
		how: 'Every value is passed through. Parameters decide which status ends a wait or passes a filter.',
	},
	transcriptRoles: {
		quote: 'Other role values: not shown',
		section: 'Resources › Transcript',
		treatment: 'passedThrough',
		how: 'Roles are returned unchanged, also in the readable text.',
	},
	retryDelayUnit: {
		quote: 'unit is not stated',
		section: 'Resources › Campaign',
		treatment: 'passedThrough',
		how: 'retry_delay is returned unchanged, without conversion.',
	},
	campaignWindow: {
		quote: 'Field names of the call window and calling days: not shown',
		section: 'Resources › Campaign',
		treatment: 'passedThrough',
		how: 'Campaign Status returns every field of the response.',
	},
	campaignTransitions: {
		quote: 'triggers activation, pausing and archiving, and the permitted source states: not shown',
		section: 'States › Campaign status',
		treatment: 'notReliedOn',
		how: 'No node changes the status of a campaign. A change between any two statuses is reported.',
	},
	callTransitions: {
		quote: 'Transitions: not shown. A call created',
		section: 'States › Call status',
		treatment: 'configured',
		how: 'Place Call → Wait for Completion has a parameter for the finished statuses.',
	},
	openSessionState: {
		quote: 'The name of the normal open state: not shown',
		section: 'States › Chat session',
		treatment: 'notReliedOn',
		how: 'No node compares the state of a session with a name.',
	},
	callList: {
		quote: 'Names of the other filter parameters and the response shape: not shown',
		section: 'Endpoints › GET /v1/calls',
		treatment: 'configured',
		how: 'The API mapping names the filters, the path of the list, and the paging.',
	},
	activeAgents: {
		quote:
			'used to validate an `agent_uuid` before a call. Request parameters and response shape: not shown',
		section: 'Endpoints › GET /v1/active_agents',
		treatment: 'configured',
		how: 'Agents are found by their documented agent_uuid, anywhere in the response or by the API mapping. Parameters can be added.',
	},
	dndSkipped: {
		quote: 'array of objects (object fields: not shown)',
		section: 'Endpoints › POST /v1/campaigns/{id}/contacts',
		treatment: 'passedThrough',
		how: 'dnd_skipped is returned unchanged.',
	},
	warnings: {
		quote: '`warnings` | array (item shape: not shown)',
		section: 'Endpoints › POST /v1/campaigns/{id}/contacts',
		treatment: 'passedThrough',
		how: 'warnings is returned unchanged.',
	},
	dndAdd: {
		quote: "Adds a number to an agent's list. Request and response shape: not shown",
		section: 'Endpoints › POST /v1/dnd_numbers',
		treatment: 'configured',
		how: 'The API mapping has the placement and names of the values. The response is passed through.',
	},
	dndList: {
		quote: 'Names of the query parameters (agent, phone filter, page, per-page): not shown',
		section: 'Endpoints › GET /v1/dnd_numbers',
		treatment: 'configured',
		how: 'The API mapping names the parameters.',
	},
	dndRemove: {
		quote: 'carried (query or body), and any other parameter: not shown',
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		treatment: 'configured',
		how: 'The API mapping has the placement of phone and agent, and the name of the agent. The name phone is documented.',
	},
	chatCreate: {
		quote: 'Creates a session. Request and response shape: not shown',
		section: 'Endpoints › POST /v1/chat/session',
		treatment: 'configured',
		how: 'The API mapping names the values. The response is passed through.',
	},
	chatInbound: {
		quote: '`message_id`. Request fields: not shown',
		section: 'Endpoints › POST /v1/chat/inbound',
		treatment: 'configured',
		how: 'The API mapping names the values.',
	},
	chatAsync: {
		quote: 'Request fields and immediate response shape: not shown',
		section: 'Endpoints › POST /v1/chat/inbound/async',
		treatment: 'configured',
		how: 'The API mapping names the values. The response is passed through.',
	},
	supportCommand: {
		quote: 'Other commands, body fields and response: not shown',
		section: 'Endpoints › POST /v1/chat/session/{id}/support',
		treatment: 'configured',
		how: 'Chat Session → Support Command accepts any command and additional body fields. The response is passed through.',
	},
	interactiveMessage: {
		quote: 'the shape of an outgoing interactive message: not shown',
		section: 'Endpoints › Legacy chat endpoints',
		treatment: 'passedThrough',
		how: 'Interactive messages are returned unchanged. Chat Send → Answer Interaction has parameters for the IDs.',
	},
	otherStreams: {
		quote: 'Credentials other than `API-Token` and the streams they may request: not shown',
		section: 'Authentication',
		treatment: 'notReliedOn',
		how: 'The package uses an API token and requests only the stream user.',
	},
	completionDelivery: {
		quote: 'Delivery details (headers, signature, retries, expected response): not shown',
		section: 'Events › Call completion webhook',
		treatment: 'notReliedOn',
		how: 'Only call_id is read from the delivery. The call is read again with the token.',
	},
	chatDelivery: {
		quote: 'Its payload and how it is configured: not shown',
		section: 'Events › Chat delivery webhook',
		treatment: 'passedThrough',
		how: 'Chat Delivery Trigger returns the payload unchanged. A parameter sets the key that detects duplicates.',
	},
	eventReasons: {
		quote: 'Values of `reason` for `session_reactivated` and `auto_resume_fired`: not shown',
		section: 'Events › Chat WebSocket',
		treatment: 'passedThrough',
		how: 'Every reason is passed through.',
	},
	errorStatuses: {
		quote: 'HTTP status of the following bodies: not shown',
		section: 'Errors',
		treatment: 'notReliedOn',
		how: 'The nodes recognize these errors by their body, at any status.',
	},
	errorCodes: {
		quote: 'The complete list of error codes: not shown',
		section: 'Errors',
		treatment: 'passedThrough',
		how: 'The message of an unknown error is the text of the service.',
	},
	rateLimits: {
		quote: 'Rate limits: not shown',
		section: 'Limits',
		treatment: 'notReliedOn',
		how: 'Concurrency has a limit that the user can change. The nodes follow 429 and Retry-After.',
	},
	lengths: {
		quote: 'other request fields or body sizes: not shown',
		section: 'Limits',
		treatment: 'notReliedOn',
		how: 'Only documented lengths are checked.',
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
		how: 'None is sent. Additional Query Fields can add one.',
	},
	legacyRemoval: {
		quote: 'The date on which legacy endpoints are removed: not shown',
		section: 'Versioning',
		treatment: 'notReliedOn',
		how: 'Legacy operations are off by default and name their replacements.',
	},
} as const satisfies Record<string, UndocumentedDetail>;
