import memoize from 'lodash/memoize';
import {
	additionalQueryParameters,
	optionsCollection,
	readAdditions,
} from '../../host/forms/options';
import { agentField } from '../../host/forms/locatorFields';
import { asItems, forEachItem } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { activeAgent, readActiveAgents } from '../../core/agents';
import type { Additions } from '../../core/service/endpoints';
import { parseAgentUuid } from '../../core/service/parseIds';

export const check: Operation = {
	value: 'check',
	name: 'Check',
	action: 'Check agent availability',
	description:
		'Check whether an agent can take calls. The list of agents is read once for all items.',
	subtitle: 'check agent',
	fields: [
		{ ...agentField, description: 'The agent to check' },
		optionsCollection(additionalQueryParameters),
	],
	isReadOnly: true,
	toolDescription:
		'Checks whether an AI agent is active and can take calls now. Places no calls and changes nothing.',

	async execute(run) {
		const { parameters, account } = run;
		const activeAgents = memoize(
			async (additions: Additions) => await readActiveAgents(await account(), additions),
			JSON.stringify,
		);
		const checkOne = async (index: number) => {
			const form = parameters.at(index);
			const wanted = parseAgentUuid(form.text('agentUuid'));
			const additions = readAdditions(form.collection('options'));
			const found = activeAgent(await activeAgents(additions), wanted);
			return asItems({ ...found?.record, agent_uuid: wanted, active: found !== undefined });
		};
		return await forEachItem(run, checkOne);
	},
};
