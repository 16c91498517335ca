import type { INodeProperties } from 'n8n-workflow';
import { sessionField } from '../shared/n8n/forms/chatFields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
} from '../shared/n8n/forms/options';
import { toolDescriptionFields } from '../shared/n8n/tools/toolDescription';

/** Entries in flight if 'Concurrency' isn't set. */
export const ENTRIES_AT_ONCE = 20;

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
			"Text to add to the agent's context. Each item adds one entry. Entries of the same session keep the order of the items.",
	},
	developerSettings(
		additionalBodyFields,
		additionalQueryParameters,
		concurrencyField(
			ENTRIES_AT_ONCE,
			'How many entries to send at the same time. Entries of the same session are always sent one by one.',
		),
	),
];

export const contextFields: INodeProperties[] = [
	...toolDescriptionFields(
		'Gives the AI agent of a chat session more information about the customer or the conversation.',
		form,
	),
	...form,
];
