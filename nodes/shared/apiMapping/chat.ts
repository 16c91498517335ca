import { NESTS, PLACEMENTS, type MappingFields } from './field';

/** Not documented in Endpoints › Chat (v1). `idempotency_key` is documented. */
export const CHAT_FIELDS = {
	chatCreateAgentName: {
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Agent Field Name',
		description: `Name of the field for the agent when creating a session. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatCreatePersonName: {
		optional: true,
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Person Name Field Name',
		description: `Name of the field for the customer's name when creating a session. Leave empty if your service has none. ${NESTS}`,
		placeholder: 'e.g. person_name',
	},
	chatCreateSessionPath: {
		optional: true,
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Path to Session ID in Response',
		description:
			'Path to the ID of the new session: field names separated by dots. Leave empty if the ID is in the field session_id.',
		placeholder: 'e.g. data.id',
	},
	chatInboundAgentName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Immediate Reply: Agent Field Name',
		description: `Name of the field for the agent when sending a message with an immediate reply. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatInboundSessionName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Immediate Reply: Session Field Name',
		description: `Name of the field for the session when sending a message with an immediate reply. ${NESTS}`,
		placeholder: 'e.g. session_id',
	},
	chatInboundMessageName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Immediate Reply: Message Field Name',
		description: `Name of the field for the text when sending a message with an immediate reply. ${NESTS}`,
		placeholder: 'e.g. message',
	},
	chatAsyncAgentName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Later Reply: Agent Field Name',
		description: `Name of the field for the agent when sending a message with a later reply. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatAsyncSessionName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Later Reply: Session Field Name',
		description: `Name of the field for the session when sending a message with a later reply. ${NESTS}`,
		placeholder: 'e.g. session_id',
	},
	chatAsyncMessageName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Later Reply: Message Field Name',
		description: `Name of the field for the text when sending a message with a later reply. ${NESTS}`,
		placeholder: 'e.g. message',
	},
} as const satisfies MappingFields;

function placementField(section: string, label: string, value: string) {
	return {
		section,
		label,
		description: `How the request sends ${value}`,
		placeholder: '',
		choices: PLACEMENTS.filter((placement) => placement.value === 'query'),
		unset: 'Body',
		optional: true,
	};
}

/** Not documented either: whether the query has some of the values instead of the body. */
export const CHAT_PLACEMENT_FIELDS = {
	chatCreateAgentPlacement: placementField(
		'Endpoints › POST /v1/chat/session',
		'Create Session: Send Agent In',
		'the agent',
	),
	chatCreatePersonPlacement: placementField(
		'Endpoints › POST /v1/chat/session',
		'Create Session: Send Person Name In',
		"the customer's name",
	),
	chatInboundAgentPlacement: placementField(
		'Endpoints › POST /v1/chat/inbound',
		'Immediate Reply: Send Agent In',
		'the agent',
	),
	chatInboundSessionPlacement: placementField(
		'Endpoints › POST /v1/chat/inbound',
		'Immediate Reply: Send Session In',
		'the session',
	),
	chatInboundMessagePlacement: placementField(
		'Endpoints › POST /v1/chat/inbound',
		'Immediate Reply: Send Message In',
		'the text',
	),
	chatAsyncAgentPlacement: placementField(
		'Endpoints › POST /v1/chat/inbound/async',
		'Later Reply: Send Agent In',
		'the agent',
	),
	chatAsyncSessionPlacement: placementField(
		'Endpoints › POST /v1/chat/inbound/async',
		'Later Reply: Send Session In',
		'the session',
	),
	chatAsyncMessagePlacement: placementField(
		'Endpoints › POST /v1/chat/inbound/async',
		'Later Reply: Send Message In',
		'the text',
	),
} as const satisfies MappingFields;
