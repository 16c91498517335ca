import type { MappingFields } from './field';

/** Open in Endpoints › GET /v1/active_agents; `agent_uuid` and `agent_name` are documented for an agent. */
export const AGENT_FIELDS = {
	agentsPath: {
		optional: true,
		section: 'Endpoints › GET /v1/active_agents',
		label: 'Path to Agents in Response',
		description:
			'Field names that lead to the list of agents, separated by dots; a single dot if the whole response is the list. Leave empty if each agent has a field agent_uuid.',
		placeholder: 'e.g. data.agents',
	},
	agentsIdPlace: {
		optional: true,
		section: 'Endpoints › GET /v1/active_agents',
		label: 'Where the ID of an Agent Is',
		description: 'Where each agent of the list has its ID. Not set means: in a field agent_uuid.',
		placeholder: '',
		choices: [
			{ name: 'A Field of the Entry', value: 'field' },
			{ name: 'The Entry Itself', value: 'entry' },
			{ name: 'The Key of the Entry', value: 'key' },
		],
	},
	agentsIdPath: {
		optional: true,
		section: 'Endpoints › GET /v1/active_agents',
		label: 'Path to ID in Each Agent',
		description:
			'Field names that lead from an agent to its ID, separated by dots. Needed if the ID is in a field of the entry.',
		placeholder: 'e.g. id',
	},
	agentsNamePath: {
		optional: true,
		section: 'Endpoints › GET /v1/active_agents',
		label: 'Path to Name in Each Agent',
		description:
			'Field names that lead from an agent to its name, separated by dots. Leave empty if it is called agent_name.',
		placeholder: 'e.g. title',
	},
} as const satisfies MappingFields;
