import type { MappingFields } from './field';

/** Open in Endpoints › GET /v1/active_agents; `agent_uuid` and `agent_name` are documented for an agent. */
export const AGENT_FIELDS = {
	agentsPath: {
		section: 'Endpoints › GET /v1/active_agents',
		label: 'Place of the Agents in the Answer',
		description:
			'Names on the way to the list of agents in the whole answer, separated by dots; a dot alone if the whole answer is the list. Leave empty if each agent has a field agent_uuid, wherever it stands.',
		placeholder: 'e.g. data.agents',
	},
	agentsIdPlace: {
		section: 'Endpoints › GET /v1/active_agents',
		label: 'Where the ID of an Agent Stands',
		description: 'Where each agent of the list has its ID. Not set means in a field agent_uuid.',
		placeholder: '',
		choices: [
			{ name: 'As the Entry Itself', value: 'entry' },
			{ name: 'As the Key of the Agent', value: 'key' },
			{ name: 'In a Field of the Agent', value: 'field' },
		],
	},
	agentsIdPath: {
		section: 'Endpoints › GET /v1/active_agents',
		label: 'Place of the ID in Each Agent',
		description:
			'Names on the way from an agent of the list to its ID, separated by dots. Needed where the ID stands in a field of the agent.',
		placeholder: 'e.g. id',
	},
	agentsNamePath: {
		section: 'Endpoints › GET /v1/active_agents',
		label: 'Place of the Name in Each Agent',
		description:
			'Names on the way from an agent of the list to its name, separated by dots. Leave empty if it is called agent_name.',
		placeholder: 'e.g. title',
	},
} as const satisfies MappingFields;
