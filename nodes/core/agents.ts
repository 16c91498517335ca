import uniqBy from 'lodash/uniqBy';
import { recordOf } from './service/envelope';
import { OutcomeUnknown } from './service/errors';
import { onScreenOnly } from './service/resolution';
import {
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
	valueAt,
	valuesIn,
} from './values/json';
import { AGENT_UUID } from './service/parseIds';
import type { ApiMapping } from './profile/apiMapping';

/** An agent of the list. Without a name, `name` is the ID. `record` is the entry with `agent_uuid` and `agent_name` added. */
export type FoundAgent = { uuid: string; name: string; record: JsonObject };

/**
 * Finds the agents in a response of `GET /v1/active_agents`, which isn't documented. Without settings in the API
 * mapping, every object with an `agent_uuid` is an agent.
 *
 * @throws OutcomeUnknown if the response has neither an agent nor an empty list
 * @throws InvalidInput if the API mapping is incomplete
 */
export function findAgents(response: JsonValue, mapping: ApiMapping): FoundAgent[] {
	const idPlace = mapping.optional('agentsIdPlace');
	if (idPlace !== undefined) {
		mapping.require(['agentsPath', ...(idPlace === 'field' ? (['agentsIdPath'] as const) : [])]);
	}
	const path = mapping.optional('agentsPath');
	const agents = path === undefined ? anywhere(response, mapping) : listed(response, path, mapping);
	return uniqBy(agents, 'uuid');
}

/** Agents by the documented field. Without any, the response must have an empty list and no agent ID. */
function anywhere(response: JsonValue, mapping: ApiMapping): FoundAgent[] {
	const found: FoundAgent[] = [];
	let isEmptyList = false;
	let namesAnAgent = false;
	for (const value of valuesIn(response)) {
		if (typeof value === 'string') namesAnAgent ||= AGENT_UUID.test(value);
		if (Array.isArray(value)) isEmptyList ||= value.length === 0;
		if (!isJsonObject(value)) continue;
		if (typeof value.agent_uuid === 'string') found.push(agentOf(value.agent_uuid, value, mapping));
		namesAnAgent ||= Object.keys(value).some((key) => AGENT_UUID.test(key));
	}
	if (found.length > 0 || (isEmptyList && !namesAnAgent)) return found;
	throw notRecognized(response, mapping.resolution('agentsPath', 'agentsIdPlace'));
}

function listed(response: JsonValue, path: string, mapping: ApiMapping): FoundAgent[] {
	const list = valueAt(response, path);
	if (typeof list !== 'object' || list === null) {
		throw notRecognized(response, mapping.resolution('agentsPath'));
	}
	return Object.entries(list).map(([key, entry]) => {
		const uuid = agentIdOf(key, entry, mapping);
		if (uuid === undefined || !AGENT_UUID.test(uuid)) {
			throw notRecognized(
				response,
				mapping.resolution('agentsPath', 'agentsIdPlace', 'agentsIdPath'),
			);
		}
		return agentOf(uuid, entry, mapping);
	});
}

function agentIdOf(key: string, entry: JsonValue, mapping: ApiMapping): string | undefined {
	const place = mapping.optional('agentsIdPlace');
	if (place === 'key') return key;
	if (place === 'entry') return filledText(entry);
	if (place === 'field') return filledText(valueAt(entry, mapping.required('agentsIdPath')));
	for (const value of valuesIn(entry)) {
		if (isJsonObject(value) && typeof value.agent_uuid === 'string') return value.agent_uuid;
	}
	return undefined;
}

function agentOf(uuid: string, entry: JsonValue, mapping: ApiMapping): FoundAgent {
	const path = mapping.optional('agentsNamePath') ?? 'agent_name';
	const name = filledText(valueAt(entry, path)) ?? filledText(entry);
	const ownName: JsonObject = name === undefined || name === uuid ? {} : { agent_name: name };
	const record = isJsonObject(entry) ? entry : {};
	return {
		uuid,
		name: name ?? uuid,
		record: { ...ownName, ...record, agent_uuid: uuid },
	};
}

function filledText(value: JsonValue | undefined): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}

export const TO_GET_ALL =
	"In 'Additional Query Fields', enter the parameters that return all active agents in one response. Ask your service provider for them.";

/**
 * What is missing if the response doesn't have all active agents, as far as its `meta` shows it in the documented form of
 * another list.
 *
 * @param agents in the response. Undefined if they weren't searched.
 */
export function missingAgents(
	response: JsonValue,
	agents?: readonly FoundAgent[],
): string | undefined {
	const { meta = null } = recordOf({ body: response });
	const { total_pages: pages, total_count: total } = isJsonObject(meta) ? meta : {};
	const { length: count = Infinity } = agents ?? {};
	if ((numberIn(pages) ?? 1) <= 1 && (numberIn(total) ?? 0) <= count) return undefined;
	return `The response has only ${agents === undefined ? 'some' : count} of the active agents`;
}

/** @throws OutcomeUnknown if the response doesn't have all active agents */
export function requireAllAgents(response: JsonValue, agents: readonly FoundAgent[]): void {
	const missing = missingAgents(response, agents);
	if (missing === undefined) return;
	throw new OutcomeUnknown(
		`${missing}, so it's unknown whether this agent is active`,
		onScreenOnly(TO_GET_ALL),
	);
}

function notRecognized(response: JsonValue, resolution: string): OutcomeUnknown {
	return new OutcomeUnknown(
		'The response has no recognizable list of active agents',
		onScreenOnly(`${resolution} The response contains ${outlineOf(response)}.`),
	);
}
