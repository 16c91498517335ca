import { fieldsOf, type MappingTopic, NESTS, PLACEMENTS } from './field';

/** What the contract doesn't show of the chat endpoints. `idempotency_key` is documented. */
export const CHAT_TOPIC = {
	name: 'chat',
	subject: 'chat requests',
	switchName: 'describeChat',
	switchLabel: 'Set Up Chat Requests',
	switchDescription:
		"Whether to enter the names that your service uses for chat messages and sessions. Chat Send without a live connection and Chat Session > Create need them. The credential test doesn't check them, because it sends no messages.",
	fields: {
		...fieldsOf('POST /v1/chat/session', {
			chatCreateAgentName: {
				label: 'Create Session: Agent Field Name',
				description: `Name of the field for the agent when creating a session. ${NESTS}`,
				placeholder: 'e.g. agent_uuid',
			},
			chatCreatePersonName: {
				optional: true,
				label: 'Create Session: Person Name Field Name',
				description: `Name of the field for the customer's name when creating a session. Leave empty if your service has none. ${NESTS}`,
				placeholder: 'e.g. person_name',
			},
			chatCreateSessionPath: {
				optional: true,
				label: 'Create Session: Path to Session ID in Response',
				description:
					'Path to the ID of the new session: field names separated by dots. Leave empty if the ID is in the field session_id.',
				placeholder: 'e.g. data.id',
			},
		}),
		...fieldsOf('POST /v1/chat/inbound', {
			chatInboundAgentName: {
				label: 'Immediate Reply: Agent Field Name',
				description: `Name of the field for the agent when sending a message with an immediate reply. ${NESTS}`,
				placeholder: 'e.g. agent_uuid',
			},
			chatInboundSessionName: {
				label: 'Immediate Reply: Session Field Name',
				description: `Name of the field for the session when sending a message with an immediate reply. ${NESTS}`,
				placeholder: 'e.g. session_id',
			},
			chatInboundMessageName: {
				label: 'Immediate Reply: Message Field Name',
				description: `Name of the field for the text when sending a message with an immediate reply. ${NESTS}`,
				placeholder: 'e.g. message',
			},
		}),
		...fieldsOf('POST /v1/chat/inbound/async', {
			chatAsyncAgentName: {
				label: 'Later Reply: Agent Field Name',
				description: `Name of the field for the agent when sending a message with a later reply. ${NESTS}`,
				placeholder: 'e.g. agent_uuid',
			},
			chatAsyncSessionName: {
				label: 'Later Reply: Session Field Name',
				description: `Name of the field for the session when sending a message with a later reply. ${NESTS}`,
				placeholder: 'e.g. session_id',
			},
			chatAsyncMessageName: {
				label: 'Later Reply: Message Field Name',
				description: `Name of the field for the text when sending a message with a later reply. ${NESTS}`,
				placeholder: 'e.g. message',
			},
		}),
	},
} satisfies MappingTopic;

function placement(label: string, value: string) {
	return {
		label,
		description: `How the request sends ${value}`,
		choices: PLACEMENTS.filter(({ value: place }) => place === 'query'),
		unset: 'Body',
		optional: true,
	};
}

/** Not documented either: whether the query has some of the values instead of the body. */
export const CHAT_PLACEMENT_TOPIC = {
	name: 'chatQueryParameters',
	subject: 'query parameters of chat requests',
	switchName: 'describeChatPlacement',
	switchLabel: 'Set Up Query Parameters of Chat Requests',
	switchDescription:
		"Whether your service expects some chat values in the query instead of the body. The credential test doesn't check this, because it sends no messages.",
	fields: {
		...fieldsOf('POST /v1/chat/session', {
			chatCreateAgentPlacement: placement('Create Session: Send Agent In', 'the agent'),
			chatCreatePersonPlacement: placement(
				'Create Session: Send Person Name In',
				"the customer's name",
			),
		}),
		...fieldsOf('POST /v1/chat/inbound', {
			chatInboundAgentPlacement: placement('Immediate Reply: Send Agent In', 'the agent'),
			chatInboundSessionPlacement: placement('Immediate Reply: Send Session In', 'the session'),
			chatInboundMessagePlacement: placement('Immediate Reply: Send Message In', 'the text'),
		}),
		...fieldsOf('POST /v1/chat/inbound/async', {
			chatAsyncAgentPlacement: placement('Later Reply: Send Agent In', 'the agent'),
			chatAsyncSessionPlacement: placement('Later Reply: Send Session In', 'the session'),
			chatAsyncMessagePlacement: placement('Later Reply: Send Message In', 'the text'),
		}),
	},
} satisfies MappingTopic;
