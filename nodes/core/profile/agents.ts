import { fieldsOf, type MappingTopic } from './field';

/** What the contract doesn't show of GET /v1/active_agents. An agent has `agent_uuid` and `agent_name`. */
export const AGENTS_TOPIC = {
	name: 'agents',
	subject: 'the list of agents',
	switchName: 'describeAgents',
	switchLabel: 'Set Up the List of Agents',
	switchDescription:
		"Whether to enter where the response of your service contains its active agents. You only need this if the agents don't have a field agent_uuid. In that case, the Agents node and the Agent fields say so. The credential test reads the list.",
	fields: fieldsOf('GET /v1/active_agents', {
		agentsPath: {
			optional: true,
			label: 'Path to Agents in Response',
			description:
				'Path to the list of agents: field names separated by dots. Enter a single dot if the whole response is the list. Leave empty if each agent has the field agent_uuid.',
			placeholder: 'e.g. data.agents',
		},
		agentsIdPlace: {
			optional: true,
			label: 'Location of Agent ID',
			description:
				'Where each agent in the list has its ID. If not set, the ID is in the field agent_uuid.',
			choices: [
				{ name: 'A Field of the Entry', value: 'field' },
				{ name: 'The Entry Itself', value: 'entry' },
				{ name: 'The Key of the Entry', value: 'key' },
			],
		},
		agentsIdPath: {
			optional: true,
			label: 'Path to ID in Each Agent',
			description:
				'Path from an agent to its ID: field names separated by dots. Required if the ID is in a field of the entry.',
			placeholder: 'e.g. id',
		},
		agentsNamePath: {
			optional: true,
			label: 'Path to Name in Each Agent',
			description:
				'Path from an agent to its name: field names separated by dots. Leave empty if the name is in the field agent_name.',
			placeholder: 'e.g. title',
		},
	}),
} satisfies MappingTopic;
