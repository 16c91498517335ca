import uniqBy from 'lodash/uniqBy';
import { OutcomeUnknown } from './api/errors';
import { onScreenOnly } from './api/modelAdvice';
import {
	isJsonObject,
	type JsonObject,
	type JsonValue,
	outlineOf,
	valueAt,
	valuesIn,
} from './json';
import { AGENT_UUID } from './api/limits';
import type { ApiMapping } from './apiMapping';

/**
 * `name` is the ID if `isNamed` is false; `record` has the agent as it comes, with `agent_uuid` if its ID is elsewhere.
 */
export type FoundAgent = { uuid: string; name: string; isNamed: boolean; record: JsonObject };

/**
 * The agents in an answer of `GET /v1/active_agents`, whose shape is open. Every object with the
 * documented `agent_uuid` is one, wherever it stands, unless the credential says where they are.
 *
 * @throws OutcomeUnknown when neither an agent nor an empty list is recognized
 * @throws MissingMapping when the credential says only half of it
 */
export function findAgents(answer: JsonValue, details: ApiMapping): FoundAgent[] {
	const idPlace = details.optional('agentsIdPlace');
	if (idPlace !== undefined) {
		details.require(['agentsPath', ...(idPlace === 'field' ? (['agentsIdPath'] as const) : [])]);
	}
	const path = details.optional('agentsPath');
	const agents = path === undefined ? anywhere(answer, details) : listed(answer, path, details);
	return uniqBy(agents, 'uuid');
}

/** By the documented field alone; where there is none, only a list that is plainly empty holds no agent. */
function anywhere(answer: JsonValue, details: ApiMapping): FoundAgent[] {
	const found: FoundAgent[] = [];
	let isEmptyList = false;
	let namesAnAgent = false;
	for (const value of valuesIn(answer)) {
		if (typeof value === 'string') namesAnAgent ||= AGENT_UUID.test(value);
		if (Array.isArray(value)) isEmptyList ||= value.length === 0;
		if (!isJsonObject(value)) continue;
		if (typeof value.agent_uuid === 'string') found.push(agentOf(value.agent_uuid, value, details));
		namesAnAgent ||= Object.keys(value).some((key) => AGENT_UUID.test(key));
	}
	if (found.length > 0 || (isEmptyList && !namesAnAgent)) return found;
	throw notRecognized(answer, details.advice('agentsPath', 'agentsIdPlace'));
}

function listed(answer: JsonValue, path: string, details: ApiMapping): FoundAgent[] {
	const list = valueAt(answer, path);
	if (typeof list !== 'object' || list === null) {
		throw notRecognized(answer, details.advice('agentsPath'));
	}
	return Object.entries(list).map(([key, entry]) => {
		const uuid = agentIdOf(key, entry, details);
		if (uuid === undefined) {
			throw notRecognized(answer, details.advice('agentsIdPlace', 'agentsIdPath'));
		}
		return agentOf(uuid, entry, details);
	});
}

function agentIdOf(key: string, entry: JsonValue, details: ApiMapping): string | undefined {
	const place = details.optional('agentsIdPlace');
	if (place === 'key') return key;
	if (place === 'entry') return filledText(entry);
	if (place === 'field') return filledText(valueAt(entry, details.required('agentsIdPath')));
	for (const value of valuesIn(entry)) {
		if (isJsonObject(value) && typeof value.agent_uuid === 'string') return value.agent_uuid;
	}
	return undefined;
}

function agentOf(uuid: string, entry: JsonValue, details: ApiMapping): FoundAgent {
	const path = details.optional('agentsNamePath');
	const named = filledText(valueAt(entry, path ?? 'agent_name'));
	const name = named ?? filledText(entry);
	const record = isJsonObject(entry) ? entry : {};
	return {
		uuid,
		name: name ?? uuid,
		isNamed: (path === undefined ? name : named) !== undefined,
		record: { ...record, agent_uuid: uuid },
	};
}

function filledText(value: JsonValue | undefined): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Requires that the path to the name leads to one, if the credential has such a path: without names, a person would
 * choose from IDs.
 *
 * @throws OutcomeUnknown if no agent has a name there
 */
export function requireNames(
	agents: readonly FoundAgent[],
	answer: JsonValue,
	details: ApiMapping,
): void {
	const isAsked = details.optional('agentsNamePath') !== undefined;
	if (!isAsked || agents.length === 0 || agents.some(({ isNamed }) => isNamed)) return;
	throw new OutcomeUnknown(
		'No agent of the list has a name',
		onScreenOnly(`${details.advice('agentsNamePath')} The answer holds ${outlineOf(answer)}.`),
	);
}

function notRecognized(answer: JsonValue, resolution: string): OutcomeUnknown {
	return new OutcomeUnknown(
		'The list of active agents came in a form in which no agent is recognized',
		onScreenOnly(`${resolution} The answer holds ${outlineOf(answer)}.`),
	);
}
