import { AGENT_FIELDS } from './agents';
import { CALL_LIST_FIELDS } from './callListFields';
import { CHAT_FIELDS, CHAT_PLACEMENT_FIELDS } from './chat';
import { DND_FIELDS } from './dnd';
import type { MappingField, MappingFields } from './field';

/** The API mapping of one part of the service. Its fields appear in the credential form when its switch is on. */
export type MappingTopic = {
	/** Name in the provider's block. */
	name: string;
	/** For messages: what needs these settings. */
	subject: string;
	switchName: string;
	switchLabel: string;
	switchDescription: string;
	fields: MappingFields;
};

export const DND_TOPIC: MappingTopic = {
	name: 'doNotDisturbLists',
	subject: 'do-not-disturb lists',
	switchName: 'describeDnd',
	switchLabel: 'Set Up Do-Not-Disturb Lists',
	switchDescription:
		"Whether to enter the names that your service uses for do-not-disturb lists. The DND List node needs them. The credential test reads a list. It doesn't add or remove numbers.",
	fields: DND_FIELDS,
};

export const CALL_LIST_TOPIC: MappingTopic = {
	name: 'callList',
	subject: 'the call list',
	switchName: 'describeCallList',
	switchLabel: 'Set Up the Call List',
	switchDescription:
		'Whether to enter the names that your service uses for the filters and pages of its call list. Get Call > Get Many needs them. The credential test reads the list without filters.',
	fields: CALL_LIST_FIELDS,
};

export const CHAT_TOPIC: MappingTopic = {
	name: 'chat',
	subject: 'chat requests',
	switchName: 'describeChat',
	switchLabel: 'Set Up Chat Requests',
	switchDescription:
		"Whether to enter the names that your service uses for chat messages and sessions. Chat Send without a live connection and Chat Session > Create need them. The credential test doesn't check them, because it sends no messages.",
	fields: CHAT_FIELDS,
};

export const CHAT_PLACEMENT_TOPIC: MappingTopic = {
	name: 'chatQueryParameters',
	subject: 'query parameters of chat requests',
	switchName: 'describeChatPlacement',
	switchLabel: 'Set Up Query Parameters of Chat Requests',
	switchDescription:
		"Whether your service expects some chat values in the query instead of the body. The credential test doesn't check this, because it sends no messages.",
	fields: CHAT_PLACEMENT_FIELDS,
};

export const AGENTS_TOPIC: MappingTopic = {
	name: 'agents',
	subject: 'the list of agents',
	switchName: 'describeAgents',
	switchLabel: 'Set Up the List of Agents',
	switchDescription:
		"Whether to enter where the response of your service contains its active agents. You only need this if the agents don't have a field agent_uuid. In that case, the Agents node and the Agent fields say so. The credential test reads the list.",
	fields: AGENT_FIELDS,
};

export const MAPPING_TOPICS: readonly MappingTopic[] = [
	DND_TOPIC,
	CALL_LIST_TOPIC,
	CHAT_TOPIC,
	CHAT_PLACEMENT_TOPIC,
	AGENTS_TOPIC,
];

export type MappingName =
	| keyof typeof AGENT_FIELDS
	| keyof typeof DND_FIELDS
	| keyof typeof CALL_LIST_FIELDS
	| keyof typeof CHAT_FIELDS
	| keyof typeof CHAT_PLACEMENT_FIELDS;

const fieldsByName = new Map(
	MAPPING_TOPICS.flatMap((topic) =>
		Object.entries(topic.fields).map(([name, field]) => [name, { topic, field }] as const),
	),
);

/** The topic and field of a value. */
export function fieldOf(name: MappingName): { topic: MappingTopic; field: MappingField } {
	const found = fieldsByName.get(name);
	if (found === undefined) throw new Error(`no field ${name}`);
	return found;
}
