import type { INodeProperties } from 'n8n-workflow';

export const forgetCalledField: INodeProperties = {
	displayName: 'Forget Called Numbers',
	name: 'forgetCalled',
	type: 'options',
	options: [
		{
			name: 'All Numbers',
			value: 'all',
			description: 'Forget every number that this node has called',
		},
		{
			name: 'Numbers of These Items',
			value: 'items',
			description: 'Forget the numbers in the input',
		},
	],
	default: 'items',
	description:
		"Which numbers 'Limit Calls per Person' should forget, so that they can be called again. No call is placed while this option is set. Execute the node once, then remove the option.",
};
