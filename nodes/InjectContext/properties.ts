import type { INodeProperties } from 'n8n-workflow';
import { sessionField } from '../shared/n8n/forms/chatFields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	optionsCollection,
} from '../shared/n8n/forms/options';
import { toolDescriptionField } from '../shared/n8n/tools/toolDescription';

const form: INodeProperties[] = [
	sessionField,
	{
		displayName: 'Context',
		name: 'context',
		type: 'string',
		typeOptions: { rows: 5 },
		default: '',
		required: true,
		placeholder: 'e.g. In a call yesterday, the customer asked for a visit on Saturday.',
		description:
			"Text to add to the agent's context. Each item adds one entry, in the order of the items.",
	},
	optionsCollection(additionalBodyFields, additionalQueryParameters),
];

export const contextFields: INodeProperties[] = [
	toolDescriptionField(
		'Gives the AI agent of a chat session more information about the customer or the conversation.',
		form,
	),
	...form,
];
