import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/forms/agentField';

/** Changes that affect people are sent one after another. */
export const CHANGES_AT_ONCE = 1;

export const dndAgentField: INodeProperties = {
	...agentField,
	description: 'The agent whose do-not-disturb list to use. Each agent has its own list.',
};

export const phoneField: INodeProperties = {
	displayName: 'Phone',
	name: 'phone',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. +919876543210',
	description:
		'The phone number as your service expects it, preferably with + and country code. Spaces, hyphens, dots, and parentheses are removed.',
};
