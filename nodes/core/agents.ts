import uniqBy from 'lodash/uniqBy';
import { type Additions, listActiveAgents } from './service/endpoints';
import { recordOf } from './service/envelope';
import { unusable } from './service/errors';
import {
	fieldsIn,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
	valuesIn,
} from './values/json';
import { AGENT_UUID } from './service/parseIds';
import { listAt, valueIn } from './profile/template';
import type { Part } from './profile/schema';
import type { Account } from './profile/serviceProfile';

/** An agent of the list. Without a name, `name` is the ID. `record` is the entry with `agent_uuid` and `agent_name` added. */
export type FoundAgent = { uuid: string; name: string; record: JsonObject };

/**
 * Finds the agents in a response of `GET /v1/active_agents`, which isn't documented. If the profile doesn't show the list,
 * every object with an `agent_uuid` is an agent.
 *
 * @throws OutcomeUnknown if the response has neither an agent nor an empty list
 * @throws InvalidInput if the profile is invalid
 */
export function findAgents(
	response: JsonValue,
	{ profile }: Pick<Account, 'profile'>,
): FoundAgent[] {
	const part = profile.part('agents') ?? {};
	const agents = listed(response, part) ?? anywhere(response, part);
	if (agents !== undefined) return uniqBy(agents, 'uuid');
	throw unusable(
		'The response has no recognizable list of active agents',
		`${profile.resolution('agents', 'list', 'id')} The response contains ${outlineOf(response)}.`,
	);
}

type AgentsPart = Part<'agents'>;

/** Agents by the documented field. Without any, the response must have an empty list and no agent ID. */
function anywhere(response: JsonValue, part: AgentsPart): FoundAgent[] | undefined {
	if (part.list !== undefined) return undefined;
	const values = [...valuesIn(response)];
	const found = values.flatMap((value) =>
		isJsonObject(value) && typeof value.agent_uuid === 'string'
			? [agentOf(value.agent_uuid, ['', value], part)]
			: [],
	);
	if (found.length > 0) return found;
	const isEmptyList = values.some((value) => Array.isArray(value) && value.length === 0);
	const texts = values.flatMap((value) => (isJsonObject(value) ? Object.keys(value) : [value]));
	const namesAnAgent = texts.some((text) => typeof text === 'string' && AGENT_UUID.test(text));
	return isEmptyList && !namesAnAgent ? [] : undefined;
}

/** Agents of the list that the profile shows. Undefined if there's no list, or an entry without an agent ID. */
function listed(response: JsonValue, part: AgentsPart): FoundAgent[] | undefined {
	const list = part.list === undefined ? undefined : listAt(response, part.list);
	if (typeof list !== 'object' || list === null) return undefined;
	const found: FoundAgent[] = [];
	for (const entry of Object.entries(list)) {
		const uuid = agentIdOf(entry, part);
		if (uuid === undefined || !AGENT_UUID.test(uuid)) return undefined;
		found.push(agentOf(uuid, entry, part));
	}
	return found;
}

type Entry = [key: string, entry: JsonValue];

function agentIdOf(entry: Entry, { id }: AgentsPart): string | undefined {
	if (id !== undefined) return filledText(valueIn(entry, id));
	return [...fieldsIn(entry[1], ['agent_uuid'])].find((value) => typeof value === 'string');
}

function agentOf(
	uuid: string,
	entry: Entry,
	{ name: place = 'agent_name' }: AgentsPart,
): FoundAgent {
	const [, value] = entry;
	const name = filledText(valueIn(entry, place)) ?? filledText(value);
	const ownName: JsonObject = name === undefined || name === uuid ? {} : { agent_name: name };
	const record = isJsonObject(value) ? value : {};
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
	"In n8n, enter the parameters that return all active agents in one response in 'Additional Query Fields'. Ask your service provider for them.";

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

/** `missing`: see {@link missingAgents}. */
type ActiveAgents = { agents: FoundAgent[]; missing: string | undefined };

export async function readActiveAgents(
	account: Account,
	additions?: Additions,
): Promise<ActiveAgents> {
	const { body } = await listActiveAgents(account.client, {}, additions);
	const agents = findAgents(body, account);
	return { agents, missing: missingAgents(body, agents) };
}

/**
 * The agent, or undefined if it isn't active.
 *
 * @throws OutcomeUnknown if it's missing, and the response doesn't have all active agents
 */
export function activeAgent({ agents, missing }: ActiveAgents, uuid: string) {
	const found = agents.find((agent) => agent.uuid === uuid);
	if (found !== undefined || missing === undefined) return found;
	throw unusable(`${missing}, so it's unknown whether this agent is active`, TO_GET_ALL);
}
