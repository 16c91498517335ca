import uniq from 'lodash/uniq';
import type { INodeProperties } from 'n8n-workflow';
import { type FoundAgent, findAgents, missingAgents } from '../core/agents';
import { getActiveAgents } from '../core/service/endpoints';
import { failedBeforeSending, InvalidInput } from '../core/service/errors';
import { onScreenOnly } from '../core/service/resolution';
import { isJsonObject, type JsonObject } from '../core/values/json';
import { shownWhere } from '../host/forms/shownWhere';
import { openMemory } from '../host/ledger/executionMemory';
import type { OperationRun } from '../host/run/operations';
import { callerOf } from '../host/caller/caller';
import { plainText } from '../core/values/values';
import { dndAgentField, type NumberOnList, readNumber } from './dndFields';

export const ONE_AGENT = { allAgents: [false] };

export const dndAgentsFields: INodeProperties[] = [
	{
		displayName: 'All Agents',
		name: 'allAgents',
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description:
			"Whether to use the lists of all active agents, with one output item per agent and number. An agent that isn't active now isn't included, and can call the number when it becomes active.",
	},
	shownWhere(dndAgentField, ONE_AGENT),
];

/** With *All Agents*, the number of an item has a list for each `agent`. */
export type NumberOnAnyList = NumberOnList & { agent?: Agent | undefined };
type Agent = Pick<FoundAgent, 'uuid' | 'name'>;

/** The lists of each item, by an index that counts those of all items. `partNames`: their names, for errors. */
export async function readLists(run: OperationRun) {
	const agents = await readAgents(run);
	return {
		partNames: agents.map((agent) => uniq([agent?.name, agent?.uuid]).join(', ')),
		listAt: (index: number) => {
			const form = run.parameters.at(Math.floor(index / agents.length));
			const agent = agents[index % agents.length];
			return { form, list: { ...readNumber(form, agent?.uuid), agent } };
		},
	};
}

/**
 * With *All Agents*, the active ones, and those of an earlier attempt that wasn't killed, whose outcomes still count.
 * Otherwise only `undefined`, for the selected one.
 *
 * @throws if they can't be read, or the response doesn't have all of them
 */
async function readAgents(run: OperationRun): Promise<Array<Agent | undefined>> {
	if (!run.parameters.at(0).switch('allAgents', false)) return [undefined];
	const account = await run.account();
	const read = async () => {
		const { body } = await getActiveAgents(account.client);
		return { body, agents: findAgents(body, account) };
	};
	const { body, agents } = await read().catch(failedBeforeSending);
	const none = agents.length === 0 ? 'The account has no active agent' : undefined;
	const missing = none ?? missingAgents(body, agents);
	if (missing !== undefined) {
		const resolution = onScreenOnly("Turn off 'All Agents', and add a node for each agent.");
		throw new InvalidInput(`${missing}, so nothing was sent`, resolution);
	}
	// An MCP session can be long.
	if (callerOf(run.context).kind === 'model') return agents;
	const known = openMemory(run.context, 'all agents', isJsonObject, {});
	for (const { uuid, name } of agents) known[uuid] = name;
	return Object.entries(known).map(([uuid, name]) => ({ uuid, name: plainText(name) }));
}

/** A record about one of several lists says which one. */
export function withAgent(record: JsonObject, { agent, phone }: NumberOnAnyList): JsonObject {
	if (agent === undefined) return record;
	const own = { agent_uuid: agent.uuid, agent_name: agent.name };
	return { phone, ...own, ...record, ...own };
}
