import {
	additionalQueryParameters,
	optionsCollection,
	readAdditions,
} from '../../shared/n8n/options';
import { forEachList } from '../../shared/n8n/list';
import type { Operation } from '../../shared/n8n/operations';
import { findAgents } from '../../shared/agents';
import { getActiveAgents } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';

export const getMany: Operation = {
	value: 'getMany',
	name: 'Get Many Active',
	action: 'Get many active agents',
	description: 'Retrieve the agents that are active and able to take calls',
	fields: [
		{
			displayName: 'Simplify',
			name: 'simplify',
			type: 'boolean',
			default: true,
			description:
				'Whether to return one item for each agent found in the answer instead of the whole answer as one item',
		},
		optionsCollection(additionalQueryParameters),
	],
	toolDescription:
		'Lists the AI agents of the account that are active and can take calls now, with their IDs. Calls nobody and changes nothing.',

	async execute({ context, parameters, connection }) {
		const plan = async (index: number) => {
			const { client, apiMapping } = await connection();
			const additions = readAdditions(parameters.record('options', index));
			const simplify = parameters.boolean('simplify', index);
			return {
				key: { additions, simplify },
				read: async () => {
					const answer = await getActiveAgents(client, additions);
					if (!simplify) return [recordOf(answer)];
					return findAgents(answer.body, apiMapping).map(({ record }) => record);
				},
			};
		};
		return await forEachList(context, plan, 1);
	},
};
