import { MissingMapping } from '../api/errors';
import { AGENT_FIELDS } from './agents';
import { CALL_LIST_FIELDS } from './callList';
import { CHAT_FIELDS, CHAT_PLACEMENT_FIELDS } from './chat';
import { DND_FIELDS } from './dnd';
import type { MappingFields } from './field';

/** What the credential asks about one part of the service: in the credential form its fields appear behind its switch. */
export type MappingTopic = {
	switchName: string;
	switchLabel: string;
	switchDescription: string;
	fields: MappingFields;
};

export const MAPPING_TOPICS: readonly MappingTopic[] = [
	{
		switchName: 'describeDnd',
		switchLabel: 'API Mapping: Do-Not-Disturb Lists',
		switchDescription:
			'Whether to say how your service names the values of its do-not-disturb requests. Needed by the DND List node.',
		fields: DND_FIELDS,
	},
	{
		switchName: 'describeCallList',
		switchLabel: 'API Mapping: Call List',
		switchDescription:
			'Whether to say how your service names the filters of its call list. Needed by Get Call → Get Many.',
		fields: CALL_LIST_FIELDS,
	},
	{
		switchName: 'describeChat',
		switchLabel: 'API Mapping: Chat',
		switchDescription:
			'Whether to say how your service names the values of its chat requests. Needed by Chat Send without a WebSocket and by Chat Session → Create.',
		fields: CHAT_FIELDS,
	},
	{
		switchName: 'describeChatPlacement',
		switchLabel: 'API Mapping: Chat Values in the Address',
		switchDescription:
			'Whether some values of your service’s chat requests go in the address instead of the body',
		fields: CHAT_PLACEMENT_FIELDS,
	},
	{
		switchName: 'describeAgents',
		switchLabel: 'API Mapping: Agents',
		switchDescription:
			'Whether to say where your service’s list of active agents holds them. Needed only if its agents have no field agent_uuid: then the Agents node and the Agent fields say so.',
		fields: AGENT_FIELDS,
	},
];

export type MappingName =
	| keyof typeof AGENT_FIELDS
	| keyof typeof DND_FIELDS
	| keyof typeof CALL_LIST_FIELDS
	| keyof typeof CHAT_FIELDS
	| keyof typeof CHAT_PLACEMENT_FIELDS;

/** What the account's owner said in the credential of what the service's document leaves open. */
export class ApiMapping {
	constructor(private readonly credential: { [name: string]: unknown }) {}

	optional(name: MappingName): string | undefined {
		const value = this.credential[name];
		return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
	}

	/** @throws MissingMapping naming the field of the credential to fill in */
	required(name: MappingName): string {
		const value = this.optional(name);
		if (value === undefined) throw missing([name]);
		return value;
	}

	/** @throws MissingMapping naming at once every field that a request lacks */
	require(names: readonly MappingName[]): void {
		const lacking = names.filter((name) => this.optional(name) === undefined);
		if (lacking.length > 0) throw missing([...new Set(lacking)]);
	}
}

function missing(names: readonly MappingName[]): MissingMapping {
	const found = names.map(fieldOf);
	const labels = inWords(found.map(({ field }) => field.label));
	const switches = inWords([...new Set(found.map(({ topic }) => topic.switchLabel))]);
	const sections = inWords([...new Set(found.map(({ field }) => field.section))]);
	return new MissingMapping(
		`The credential does not say yet: ${labels}`,
		`Open the credential, turn on ${switches} and fill in ${labels}. Ask whoever provides your service; their document leaves it open under ${sections}.`,
	);
}

function fieldOf(name: MappingName) {
	for (const topic of MAPPING_TOPICS) {
		const field = topic.fields[name];
		if (field !== undefined) return { topic, field };
	}
	throw new Error(`no field ${name}`);
}

function inWords(names: string[]): string {
	const quoted = names.map((name) => `“${name}”`);
	const last = quoted.pop() ?? '';
	return quoted.length === 0 ? last : `${quoted.join(', ')} and ${last}`;
}
