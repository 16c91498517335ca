import { AGENT_FIELDS } from './agents';
import { CALL_LIST_FIELDS } from './callListFields';
import { CHAT_FIELDS, CHAT_PLACEMENT_FIELDS } from './chat';
import { DND_FIELDS } from './dnd';
import type { MappingField, MappingFields } from './field';

/** What the credential asks about one part of the service: in the credential form its fields appear behind its switch. */
export type MappingTopic = {
	/** In the block of the provider. */
	name: string;
	switchName: string;
	switchLabel: string;
	switchDescription: string;
	fields: MappingFields;
};

export const DND_TOPIC: MappingTopic = {
	name: 'doNotDisturbLists',
	switchName: 'describeDnd',
	switchLabel: 'Set Up Do-Not-Disturb Lists',
	switchDescription:
		'Whether to enter how your service names the values of its do-not-disturb requests. The DND List node needs this. The test of this credential reads a list; it adds and removes no number.',
	fields: DND_FIELDS,
};

export const CALL_LIST_TOPIC: MappingTopic = {
	name: 'callList',
	switchName: 'describeCallList',
	switchLabel: 'Set Up the Call List',
	switchDescription:
		'Whether to enter how your service names the filters and pages of its call list. Get Call → Get Many needs this. The test of this credential reads the list, without filters.',
	fields: CALL_LIST_FIELDS,
};

export const CHAT_TOPIC: MappingTopic = {
	name: 'chat',
	switchName: 'describeChat',
	switchLabel: 'Set Up Chat Requests',
	switchDescription:
		'Whether to enter how your service names the values of its chat requests. Chat Send without a live connection and Chat Session → Create need this. It is not tested with this credential, because a test sends no messages.',
	fields: CHAT_FIELDS,
};

export const CHAT_PLACEMENT_TOPIC: MappingTopic = {
	name: 'chatQueryParameters',
	switchName: 'describeChatPlacement',
	switchLabel: 'Set Up Query Parameters of Chat Requests',
	switchDescription:
		'Whether your service takes some values of its chat requests as query parameters instead of in the body. It is not tested with this credential, because a test sends no messages.',
	fields: CHAT_PLACEMENT_FIELDS,
};

export const AGENTS_TOPIC: MappingTopic = {
	name: 'agents',
	switchName: 'describeAgents',
	switchLabel: 'Set Up the List of Agents',
	switchDescription:
		'Whether to enter where the response of your service has its active agents. Needed only if its agents have no field agent_uuid; the Agents node and the Agent fields tell you. The test of this credential reads the list.',
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

const places = new Map(
	MAPPING_TOPICS.flatMap((topic) =>
		Object.entries(topic.fields).map(([name, field]) => [name, { topic, field }] as const),
	),
);

/** The topic that asks for a value, and how. */
export function placeOf(name: MappingName): { topic: MappingTopic; field: MappingField } {
	const place = places.get(name);
	if (place === undefined) throw new Error(`no field ${name}`);
	return place;
}
