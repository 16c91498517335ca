import {
	additionalQueryParameters,
	optionsCollection,
	readAdditions,
} from '../../host/forms/options';
import { forEachList } from '../../host/run/itemLoop';
import {
	outputFields,
	readOutput,
	selectOutput,
	NOT_COMPLETE,
} from '../../host/forms/outputFields';
import type { Operation } from '../../host/run/operations';
import { findAgents, missingAgents, TO_GET_ALL } from '../../core/agents';
import { listActiveAgents } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';

export const getMany: Operation = {
	value: 'getMany',
	name: 'Get Many Active',
	action: 'Get many active agents',
	description: 'Retrieve the agents that are active and able to take calls',
	subtitle: 'get many active agents',
	fields: [
		...outputFields('simplified', 'One item per agent', 'agent_uuid, agent_name'),
		optionsCollection(additionalQueryParameters),
	],
	isReadOnly: true,
	toolDescription:
		'Lists the AI agents of the account that are active and can take calls now, with their IDs. Places no calls and changes nothing.',

	async execute(run) {
		const { parameters, account, result } = run;
		const plan = async (index: number) => {
			const service = await account();
			const form = parameters.at(index);
			const additions = readAdditions(form.collection('options'));
			const output = readOutput(form);
			return {
				key: { additions, output },
				read: async () => {
					const response = await listActiveAgents(service.client, {}, additions);
					const agents = output === 'raw' ? undefined : findAgents(response.body, service);
					const missing = missingAgents(response.body, agents);
					if (missing !== undefined) {
						const resolution = `${NOT_COMPLETE} ${TO_GET_ALL}`;
						result.addHints({ message: missing, resolution });
					}
					if (agents === undefined) return [recordOf(response)];
					return agents.map(({ record }) =>
						selectOutput(output, { raw: record, simplified: record }),
					);
				},
			};
		};
		return await forEachList(run, plan, 1);
	},
};
