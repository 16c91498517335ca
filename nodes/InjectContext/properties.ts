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
		placeholder: 'e.g. In yesterday’s call the customer asked for a visit on Saturday.',
		description:
			'What the agent should know, added to its context. Each item adds one entry, in the order of the items.',
	},
	optionsCollection(additionalBodyFields, additionalQueryParameters),
];

export const contextFields: INodeProperties[] = [
	toolDescriptionField(
		'Tells the AI agent of a chat session something that it should know about the customer or the conversation, beside what it knows already.',
		form,
	),
	...form,
];
