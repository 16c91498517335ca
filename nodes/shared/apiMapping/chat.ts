import { NESTS, PLACEMENTS, type MappingFields } from './field';

/** Open in Endpoints › Chat (v1). `idempotency_key` is documented and not asked for. */
export const CHAT_FIELDS = {
	chatCreateAgentName: {
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Agent Field Name',
		description: `Name of the agent in the request that creates a session. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatCreatePersonName: {
		optional: true,
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Person Name Field Name',
		description: `Name of the field for the customer’s name in the request that creates a session. Leave empty if your service takes none. ${NESTS}`,
		placeholder: 'e.g. person_name',
	},
	chatCreateSessionPath: {
		optional: true,
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Path to Session ID in Response',
		description:
			'Field names that lead to the ID of the new session, separated by dots. Leave empty if it is called session_id.',
		placeholder: 'e.g. data.id',
	},
	chatInboundAgentName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Immediate Reply: Agent Field Name',
		description: `Name of the agent in the request for an immediate reply. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatInboundSessionName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Immediate Reply: Session Field Name',
		description: `Name of the session in the request for an immediate reply. ${NESTS}`,
		placeholder: 'e.g. session_id',
	},
	chatInboundMessageName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Immediate Reply: Message Field Name',
		description: `Name of the message text in the request for an immediate reply. ${NESTS}`,
		placeholder: 'e.g. message',
	},
	chatAsyncAgentName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Later Reply: Agent Field Name',
		description: `Name of the agent in the request for a later reply. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatAsyncSessionName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Later Reply: Session Field Name',
		description: `Name of the session in the request for a later reply. ${NESTS}`,
		placeholder: 'e.g. session_id',
	},
	chatAsyncMessageName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Later Reply: Message Field Name',
		description: `Name of the message text in the request for a later reply. ${NESTS}`,
		placeholder: 'e.g. message',
	},
	chatAsyncTurnPath: {
		optional: true,
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Later Reply: Path to Turn ID in Response',
		description:
			'Field names that lead to the ID of the turn, separated by dots. The later reply is recognized by it. Leave empty if it is called turn_id.',
		placeholder: 'e.g. data.turn',
	},
} as const satisfies MappingFields;

function placed(section: string, label: string, what: string) {
	return {
		section,
		label,
		description: `How the request sends ${what}`,
		placeholder: '',
		choices: PLACEMENTS.filter(({ value }) => value === 'query'),
		unset: 'Body',
		optional: true,
	};
}

/** Open in the same places: these requests have a body, but not every value need be in it. */
export const CHAT_PLACEMENT_FIELDS = {
	chatCreateAgentPlacement: placed(
		'Endpoints › POST /v1/chat/session',
		'Create Session: Send Agent In',
		'the agent',
	),
	chatCreatePersonPlacement: placed(
		'Endpoints › POST /v1/chat/session',
		'Create Session: Send Person Name In',
		'the customer’s name',
	),
	chatInboundAgentPlacement: placed(
		'Endpoints › POST /v1/chat/inbound',
		'Immediate Reply: Send Agent In',
		'the agent',
	),
	chatInboundSessionPlacement: placed(
		'Endpoints › POST /v1/chat/inbound',
		'Immediate Reply: Send Session In',
		'the session',
	),
	chatInboundMessagePlacement: placed(
		'Endpoints › POST /v1/chat/inbound',
		'Immediate Reply: Send Message In',
		'the text',
	),
	chatAsyncAgentPlacement: placed(
		'Endpoints › POST /v1/chat/inbound/async',
		'Later Reply: Send Agent In',
		'the agent',
	),
	chatAsyncSessionPlacement: placed(
		'Endpoints › POST /v1/chat/inbound/async',
		'Later Reply: Send Session In',
		'the session',
	),
	chatAsyncMessagePlacement: placed(
		'Endpoints › POST /v1/chat/inbound/async',
		'Later Reply: Send Message In',
		'the text',
	),
} as const satisfies MappingFields;
