import { AGENTS_TOPIC } from './agents';
import { CALL_LIST_TOPIC } from './callList';
import { CHAT_PLACEMENT_TOPIC, CHAT_TOPIC } from './chat';
import { DND_TOPIC } from './dnd';
import type { MappingField, MappingTopic } from './field';

export const MAPPING_TOPICS: readonly MappingTopic[] = [
	DND_TOPIC,
	CALL_LIST_TOPIC,
	CHAT_TOPIC,
	CHAT_PLACEMENT_TOPIC,
	AGENTS_TOPIC,
];

export type MappingName =
	| keyof typeof AGENTS_TOPIC.fields
	| keyof typeof DND_TOPIC.fields
	| keyof typeof CALL_LIST_TOPIC.fields
	| keyof typeof CHAT_TOPIC.fields
	| keyof typeof CHAT_PLACEMENT_TOPIC.fields;

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
