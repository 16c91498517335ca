import type { INodeProperties } from 'n8n-workflow';

/** The agent, chosen from the account's active agents or typed in. */
export const agentField: INodeProperties = {
	displayName: 'Agent',
	name: 'agentUuid',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description: 'The AI agent that does the talking',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Select an agent...',
			typeOptions: { searchListMethod: 'searchAgents', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. agent_5f2c9a',
		},
	],
};

/** Members of the Options collection that every action offers, for what the document does not name. */
export const additionalBodyFields: INodeProperties = {
	displayName: 'Additional Body Fields',
	name: 'additionalBodyFields',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. { "priority": "high" }',
	description:
		'More fields to send in the body of the request, as a JSON object. Objects of one name are merged; what this node sends itself is never replaced.',
};

export const additionalQueryParameters: INodeProperties = {
	displayName: 'Additional Query Parameters',
	name: 'additionalQueryParameters',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. { "locale": "en" }',
	description:
		'More parameters to send in the address of the request, as a JSON object; a list of values sends its name several times. What this node sends itself is never replaced.',
};

/** How many items are under way at once. */
export function concurrencyField(initial: number, description: string): INodeProperties {
	return {
		displayName: 'Concurrency',
		name: 'concurrency',
		type: 'number',
		noDataExpression: true,
		typeOptions: { minValue: 1, maxValue: 100, numberPrecision: 0 },
		default: initial,
		description,
	};
}
