import { isJsonObject, type JsonObject, type JsonValue } from '../types';

export type FoundAgent = { uuid: string; name: string; record: JsonObject };

/**
 * The agents in an answer of `GET /v1/active_agents`, whose shape is open: every object with the
 * documented `agent_uuid` is one, wherever it stands; `agent_name` names it where there is one.
 */
export function findAgents(answer: JsonValue): FoundAgent[] {
	const found = new Map<string, FoundAgent>();
	collect(answer, found);
	return [...found.values()];
}

function collect(value: JsonValue, found: Map<string, FoundAgent>): void {
	if (Array.isArray(value)) {
		for (const item of value) collect(item, found);
		return;
	}
	if (!isJsonObject(value)) return;
	const { agent_uuid: uuid, agent_name: name } = value;
	if (typeof uuid === 'string' && !found.has(uuid)) {
		found.set(uuid, { uuid, name: typeof name === 'string' ? name : uuid, record: value });
	}
	for (const inner of Object.values(value)) collect(inner, found);
}
