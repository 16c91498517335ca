import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../host/forms/locatorFields';
import { additionalQueryParameters, developerSettings } from '../host/forms/options';

/** The form, from top to bottom. */
export const progressFields: INodeProperties[] = [
	{
		...campaignField,
		description: 'The campaign to follow',
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
				description:
					'The call counts changed since the last check. Counts are attempts, not contacts.',
			},
			{
				name: 'Queue Completed',
				value: 'queue_completed',
				description: 'The calling queue of a contact list is completed',
			},
			{
				name: 'Status Changed',
				value: 'status_changed',
				description: 'The campaign was activated, paused, or archived',
			},
		],
		default: ['queue_completed', 'status_changed'],
		required: true,
		description: 'What starts the workflow. The node returns one item per event.',
	},
	developerSettings(additionalQueryParameters),
];
