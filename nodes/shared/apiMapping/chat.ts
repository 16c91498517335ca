import { NESTS, PLACEMENTS, type OpenDetailFields } from './field';

/** Open in Endpoints › Chat (v1). `idempotency_key` is documented and not asked for. */
export const CHAT_FIELDS = {
	chatCreateAgentName: {
		place: 'chatCreate',
		label: 'Create Session: Name of the Agent Value',
		description: `Name under which the request that creates a session carries the agent. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatCreatePersonName: {
		place: 'chatCreate',
		label: 'Create Session: Name of the Person Name Value',
		description: `Name under which the request that creates a session carries the customer’s name. Leave empty if your service takes none. ${NESTS}`,
		placeholder: 'e.g. person_name',
	},
	chatCreateSessionPath: {
		place: 'chatCreate',
		label: 'Create Session: Place of the Session ID in the Answer',
		description:
			'Names on the way to the ID of the new session, separated by dots. Leave empty if it is called session_id, wherever it stands.',
		placeholder: 'e.g. data.id',
	},
	chatInboundAgentName: {
		place: 'chatInbound',
		label: 'Send and Wait: Name of the Agent Value',
		description: `Name under which a message sent for an immediate reply carries the agent. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatInboundSessionName: {
		place: 'chatInbound',
		label: 'Send and Wait: Name of the Session Value',
		description: `Name under which a message sent for an immediate reply carries the session. ${NESTS}`,
		placeholder: 'e.g. session_id',
	},
	chatInboundMessageName: {
		place: 'chatInbound',
		label: 'Send and Wait: Name of the Message Value',
		description: `Name under which a message sent for an immediate reply carries its text. ${NESTS}`,
		placeholder: 'e.g. message',
	},
	chatAsyncAgentName: {
		place: 'chatAsync',
		label: 'Send Without Waiting: Name of the Agent Value',
		description: `Name under which a message sent for a later reply carries the agent. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	chatAsyncSessionName: {
		place: 'chatAsync',
		label: 'Send Without Waiting: Name of the Session Value',
		description: `Name under which a message sent for a later reply carries the session. ${NESTS}`,
		placeholder: 'e.g. session_id',
	},
	chatAsyncMessageName: {
		place: 'chatAsync',
		label: 'Send Without Waiting: Name of the Message Value',
		description: `Name under which a message sent for a later reply carries its text. ${NESTS}`,
		placeholder: 'e.g. message',
	},
	chatAsyncTurnPath: {
		place: 'chatAsync',
		label: 'Send Without Waiting: Place of the Turn ID in the Answer',
		description:
			'Names on the way to the ID of the turn, separated by dots, by which the later reply is recognized. Leave empty if it is called turn_id, wherever it stands.',
		placeholder: 'e.g. data.turn',
	},
} as const satisfies OpenDetailFields;

function placed(place: 'chatCreate' | 'chatInbound' | 'chatAsync', label: string, what: string) {
	return {
		place,
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
		'chatCreate',
		'Create Session: Where the Agent Goes',
		'the agent',
	),
	chatCreatePersonPlacement: placed(
		'chatCreate',
		'Create Session: Where the Person Name Goes',
		'the customer’s name',
	),
	chatInboundAgentPlacement: placed(
		'chatInbound',
		'Send and Wait: Where the Agent Goes',
		'the agent',
	),
	chatInboundSessionPlacement: placed(
		'chatInbound',
		'Send and Wait: Where the Session Goes',
		'the session',
	),
	chatInboundMessagePlacement: placed(
		'chatInbound',
		'Send and Wait: Where the Message Goes',
		'the text',
	),
	chatAsyncAgentPlacement: placed(
		'chatAsync',
		'Send Without Waiting: Where the Agent Goes',
		'the agent',
	),
	chatAsyncSessionPlacement: placed(
		'chatAsync',
		'Send Without Waiting: Where the Session Goes',
		'the session',
	),
	chatAsyncMessagePlacement: placed(
		'chatAsync',
		'Send Without Waiting: Where the Message Goes',
		'the text',
	),
} as const satisfies OpenDetailFields;
