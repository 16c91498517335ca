import {
	additionalQueryParameters,
	developerSettings,
	readAdditions,
} from '../../shared/n8n/forms/options';
import { agentField } from '../../shared/n8n/forms/locatorFields';
import { asItems, forEachItem } from '../../shared/n8n/run/itemLoop';
import { MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import type { Operation } from '../../shared/n8n/run/operations';
import {
	findAgents,
	type FoundAgent,
	readActiveAgents,
	requireAllAgents,
} from '../../shared/agents';
import { parseAgentUuid } from '../../shared/api/parseIds';
import type { JsonValue } from '../../shared/json';

export const check: Operation = {
	value: 'check',
	name: 'Check',
	action: 'Check agent availability',
	description:
		'Check whether an agent is active and able to take calls. The node reads the list of agents once for all items.',
	fields: [
		{ ...agentField, description: 'The agent to check' },
		developerSettings(additionalQueryParameters),
	],
	isReadOnly: true,
	toolDescription:
		'Checks whether an AI agent is active and can take calls now. Places no calls and changes nothing.',

	async execute({ context, parameters, account }) {
		const lists = new Map<string, Promise<{ body: JsonValue; agents: FoundAgent[] }>>();
		const activeAgents = async (index: number) => {
			const additions = readAdditions(parameters.at(index).collection('developerSettings'));
			const key = JSON.stringify(additions);
			const { client, apiMapping } = await account();
			const read = async () => {
				const { body } = await readActiveAgents(client, apiMapping, additions);
				return { body, agents: findAgents(body, apiMapping) };
			};
			const list = lists.get(key) ?? read();
			lists.set(key, list);
			return await list;
		};
		const checkOne = async (index: number) => {
			const wanted = parseAgentUuid(parameters.at(index).textOrNumber('agentUuid', MAY_BE_BLANK));
			const { body, agents } = await activeAgents(index);
			const found = agents.find(({ uuid }) => uuid === wanted);
			if (found === undefined) requireAllAgents(body, agents);
			return asItems({ ...found?.record, agent_uuid: wanted, active: found !== undefined });
		};
		return await forEachItem(context, checkOne);
	},
};
