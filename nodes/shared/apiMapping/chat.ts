import { NESTS, PLACEMENTS, type MappingFields } from './field';

/** Open in Endpoints › Chat (v1). `idempotency_key` is documented and not asked for. */
export const CHAT_FIELDS = {
	chatCreateAgentName: {
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Name of the Agent Value',
		description: `Name under which the request that creates a session carries the agent. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatCreatePersonName: {
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Name of the Person Name Value',
		description: `Name under which the request that creates a session carries the customer’s name. Leave empty if your service takes none. ${NESTS}`,
		placeholder: 'e.g. person_name',
	},
	chatCreateSessionPath: {
		section: 'Endpoints › POST /v1/chat/session',
		label: 'Create Session: Place of the Session ID in the Answer',
		description:
			'Names on the way to the ID of the new session, separated by dots. Leave empty if it is called session_id, wherever it stands.',
		placeholder: 'e.g. data.id',
	},
	chatInboundAgentName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Send and Wait: Name of the Agent Value',
		description: `Name under which a message sent for an immediate reply carries the agent. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatInboundSessionName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Send and Wait: Name of the Session Value',
		description: `Name under which a message sent for an immediate reply carries the session. ${NESTS}`,
		placeholder: 'e.g. session_id',
	},
	chatInboundMessageName: {
		section: 'Endpoints › POST /v1/chat/inbound',
		label: 'Send and Wait: Name of the Message Value',
		description: `Name under which a message sent for an immediate reply carries its text. ${NESTS}`,
		placeholder: 'e.g. message',
	},
	chatAsyncAgentName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Send Without Waiting: Name of the Agent Value',
		description: `Name under which a message sent for a later reply carries the agent. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatAsyncSessionName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Send Without Waiting: Name of the Session Value',
		description: `Name under which a message sent for a later reply carries the session. ${NESTS}`,
		placeholder: 'e.g. session_id',
	},
	chatAsyncMessageName: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Send Without Waiting: Name of the Message Value',
		description: `Name under which a message sent for a later reply carries its text. ${NESTS}`,
		placeholder: 'e.g. message',
	},
	chatAsyncTurnPath: {
		section: 'Endpoints › POST /v1/chat/inbound/async',
		label: 'Send Without Waiting: Place of the Turn ID in the Answer',
		description:
			'Names on the way to the ID of the turn, separated by dots, by which the later reply is recognized. Leave empty if it is called turn_id, wherever it stands.',
		placeholder: 'e.g. data.turn',
	},
} as const satisfies MappingFields;

function placed(section: string, label: string, what: string) {
	return {
		section,
		label,
		description: `Where the request carries ${what}`,
		placeholder: '',
		choices: PLACEMENTS.filter(({ value }) => value === 'query'),
		unset: 'In the Body',
	};
}

/** Open in the same places: these requests have a body, but not every value need be in it. */
export const CHAT_PLACEMENT_FIELDS = {
	chatCreateAgentPlacement: placed(
		'Endpoints › POST /v1/chat/session',
		'Create Session: Where the Agent Goes',
		'the agent',
	),
	chatCreatePersonPlacement: placed(
		'Endpoints › POST /v1/chat/session',
		'Create Session: Where the Person Name Goes',
		'the customer’s name',
	),
	chatInboundAgentPlacement: placed(
		'Endpoints › POST /v1/chat/inbound',
		'Send and Wait: Where the Agent Goes',
		'the agent',
	),
	chatInboundSessionPlacement: placed(
		'Endpoints › POST /v1/chat/inbound',
		'Send and Wait: Where the Session Goes',
		'the session',
	),
	chatInboundMessagePlacement: placed(
		'Endpoints › POST /v1/chat/inbound',
		'Send and Wait: Where the Message Goes',
		'the text',
	),
	chatAsyncAgentPlacement: placed(
		'Endpoints › POST /v1/chat/inbound/async',
		'Send Without Waiting: Where the Agent Goes',
		'the agent',
	),
	chatAsyncSessionPlacement: placed(
		'Endpoints › POST /v1/chat/inbound/async',
		'Send Without Waiting: Where the Session Goes',
		'the session',
	),
	chatAsyncMessagePlacement: placed(
		'Endpoints › POST /v1/chat/inbound/async',
		'Send Without Waiting: Where the Message Goes',
		'the text',
	),
} as const satisfies MappingFields;
