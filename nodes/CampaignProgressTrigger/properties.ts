import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../shared/n8n/forms/campaignField';
import { additionalQueryParameters } from '../shared/n8n/forms/options';

/** What the person sees, from top to bottom. */
export const progressFields: INodeProperties[] = [
	{
		...campaignField,
		description: 'The ID of the campaign to follow',
	},
	{
		displayName: 'Trigger On',
		name: 'events',
		type: 'multiOptions',
		noDataExpression: true,
		options: [
			{
				name: 'Call Counts Changed',
				value: 'call_counts_changed',
				description: 'Calls were placed since the last check. Counts are attempts, not contacts.',
			},
			{
				name: 'Queue Completed',
				value: 'queue_completed',
				description: 'The calling queue of a contact list is completed',
			},
			{
				name: 'Status Changed',
				value: 'status_changed',
				description: 'The campaign was activated, paused or archived',
			},
		],
		default: ['queue_completed', 'status_changed'],
		required: true,
		description: 'What starts the workflow. Each event is returned as its own item.',
	},
	{
		displayName: 'Emit Current State First',
		name: 'emitBaseline',
		type: 'boolean',
		default: false,
		description:
			'Whether the first check also starts the workflow, with the current state of the campaign. Otherwise the first check only stores the state that later ones are compared with.',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [additionalQueryParameters],
	},
];
