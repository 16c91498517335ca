import uniq from 'lodash/uniq';
import type { INodeProperties } from 'n8n-workflow';
import { type FoundAgent, readActiveAgents } from '../core/agents';
import { parseDndPhone } from '../core/dnd/listedNumbers';
import type { Additions } from '../core/service/endpoints';
import { failedBeforeSending, InvalidInput } from '../core/service/errors';
import { parseAgentUuid } from '../core/service/parseIds';
import { onScreenOnly } from '../core/service/resolution';
import type { JsonObject } from '../core/values/json';
import { plainText } from '../core/values/values';
import type { Fields } from '../host/forms/fields';
import { agentField } from '../host/forms/locatorFields';
import { readAdditions } from '../host/forms/options';
import { shownWhere } from '../host/forms/shownWhere';
import { openValues } from '../host/claims/executionMemory';
import type { OperationRun } from '../host/run/operations';

export const dndAgentField: INodeProperties = {
	...agentField,
	description: 'The agent whose do-not-disturb list to use',
	hint: "Each agent has its own list, which doesn't apply to other agents",
};

export const phoneField: INodeProperties = {
	displayName: 'Phone',
	name: 'phone',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. +919876543210',
	description:
		'The phone number as your service expects it, preferably with + and country code. Spaces, hyphens, dots, and parentheses are removed.',
};

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

type Agent = Pick<FoundAgent, 'uuid' | 'name'>;

/** The number of an item, and a list for it. `agent`: whose list it is with *All Agents*. */
export type NumberOnList = {
	agentUuid: string;
	phone: string;
	additions: Additions;
	agent?: Agent | undefined;
};

/** @param agent if omitted, the selected one */
export function readNumber(form: Fields, agent?: Agent): NumberOnList {
	return {
		agentUuid: parseAgentUuid(agent?.uuid ?? form.text('agentUuid')),
		phone: parseDndPhone(form.scalar('phone')),
		additions: readAdditions(form.collection('developerSettings')),
		agent,
	};
}

/** The lists of each item, by an index that counts those of all items. `partNames`: their names, for errors. */
export async function readLists(run: OperationRun) {
	const agents = await readAgents(run);
	return {
		partNames: agents.map((agent) => uniq([agent?.name, agent?.uuid]).join(', ')),
		listAt: (index: number) => {
			const form = run.parameters.at(Math.floor(index / agents.length));
			return { form, list: readNumber(form, agents[index % agents.length]) };
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
	const { agents, missing } = await readActiveAgents(await run.account()).catch(
		failedBeforeSending,
	);
	if (agents.length === 0 || missing !== undefined) {
		const resolution = onScreenOnly("Turn off 'All Agents', and add a node for each agent.");
		const reason = agents.length === 0 ? 'The account has no active agent' : missing;
		throw new InvalidInput(`${reason}, so nothing was sent`, resolution);
	}
	// An MCP session can be long.
	if (run.caller.kind === 'model') return agents;
	const known = openValues(run, 'all agents');
	for (const { uuid, name } of agents) known[uuid] = name;
	return Object.entries(known).map(([uuid, name]) => ({ uuid, name: plainText(name) }));
}

/** A record about one of several lists says which one. */
export function withAgent(record: JsonObject, { agent, phone }: NumberOnList): JsonObject {
	if (agent === undefined) return record;
	const own = { agent_uuid: agent.uuid, agent_name: agent.name };
	return { phone, ...own, ...record, ...own };
}
