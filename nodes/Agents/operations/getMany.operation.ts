import {
	additionalQueryParameters,
	developerSettings,
	readAdditions,
} from '../../shared/n8n/forms/options';
import { forEachList } from '../../shared/n8n/run/itemLoop';
import { outputFields, readOutput, selectOutput } from '../../shared/n8n/forms/outputFields';
import type { Operation } from '../../shared/n8n/run/operations';
import { NOT_COMPLETE } from '../../shared/n8n/forms/list';
import { addHints } from '../../shared/n8n/tools/hints';
import { findAgents, missingAgents, TO_GET_ALL } from '../../shared/agents';
import { getActiveAgents } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';

export const getMany: Operation = {
	value: 'getMany',
	name: 'Get Many Active',
	action: 'Get many active agents',
	description: 'Retrieve the agents that are active and able to take calls',
	subtitle: 'get many active agents',
	fields: [
		...outputFields('simplified', 'One item per agent', 'agent_uuid, agent_name'),
		developerSettings(additionalQueryParameters),
	],
	isReadOnly: true,
	toolDescription:
		'Lists the AI agents of the account that are active and can take calls now, with their IDs. Places no calls and changes nothing.',

	async execute({ context, parameters, account }) {
		const plan = async (index: number) => {
			const { client, apiMapping } = await account();
			const form = parameters.at(index);
			const additions = readAdditions(form.collection('developerSettings'));
			const output = readOutput(form);
			return {
				key: { additions, output },
				read: async () => {
					const response = await getActiveAgents(client, additions);
					const agents = output === 'raw' ? undefined : findAgents(response.body, apiMapping);
					const missing = missingAgents(response.body, agents);
					if (missing !== undefined) {
						const resolution = { onScreen: TO_GET_ALL, forModel: NOT_COMPLETE };
						addHints(context, { message: missing, resolution });
					}
					if (agents === undefined) return [recordOf(response)];
					return agents.map(({ record }) =>
						selectOutput(output, { raw: record, simplified: record }),
					);
				},
			};
		};
		return await forEachList(context, plan, 1);
	},
};
