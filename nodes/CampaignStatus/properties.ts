import { READS_AT_ONCE } from '../shared/api/limits';
import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../shared/n8n/forms/campaignField';
import {
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
	optionsCollection,
} from '../shared/n8n/forms/options';
import { outputFields } from '../shared/n8n/forms/outputFields';
import { toolDescriptionField } from '../shared/n8n/tools/toolDescription';

const queueWaitFields: INodeProperties[] = [
	{
		displayName: 'Wait Until Completed',
		name: 'waitUntilCompleted',
		type: 'boolean',
		default: false,
		description:
			"Whether to wait until the calling queues of the campaign's contact lists are completed. The wait also ends if the campaign is paused, archived, or a draft, or if its calling queue is empty for two minutes. The output shows the reason.",
	},
	{
		displayName:
			'The execution stays in memory while it waits, and is lost if n8n restarts. To wait for hours or days, use Campaign Progress Trigger instead.',
		name: 'waitNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { waitUntilCompleted: [true] } },
	},
	{
		displayName: 'Contact List ID',
		name: 'campaignUploadId',
		type: 'string',
		default: '',
		placeholder: 'e.g. 314',
		description:
			'The contact list to wait for, as campaign_upload_id in the output of Push Campaign Contacts. Leave empty to wait for every list that is in the calling queue.',
		displayOptions: { show: { waitUntilCompleted: [true] } },
	},
	{
		displayName: 'Check Every (Seconds)',
		name: 'waitInterval',
		type: 'number',
		typeOptions: { minValue: 5, numberPrecision: 0 },
		default: 30,
		description: 'How often to check the campaign, at least every 5 seconds',
		displayOptions: { show: { waitUntilCompleted: [true] } },
	},
	{
		displayName: 'Time Limit (Minutes)',
		name: 'waitLimit',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 60,
		description: 'How many minutes to wait at most',
		displayOptions: { show: { waitUntilCompleted: [true] } },
	},
	{
		displayName: 'When the Time Limit Passes',
		name: 'onTimeLimit',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Return What Is Known',
				value: 'return',
				description: 'Return the current status, with wait_outcome set to timed_out',
			},
			{ name: 'Stop', value: 'stop', description: 'Stop the execution' },
		],
		default: 'return',
		description: "What to do if the campaign isn't completed in time",
		displayOptions: { show: { waitUntilCompleted: [true] } },
	},
];

const form: INodeProperties[] = [
	{ ...campaignField, description: 'The campaign whose progress to get' },
	...queueWaitFields,
	...outputFields(
		'simplified',
		'One flat record with calls by status, contacts, lists, connect rate, and attempts per contact',
		'status, connect_rate',
	),
	optionsCollection({
		displayName: 'Keep Waiting While Stopped',
		name: 'waitWhileStopped',
		type: 'boolean',
		default: true,
		description:
			'Whether to keep waiting while the campaign is paused or a draft, or while its calling queue is empty. Use this if someone may activate the campaign or release contacts later.',
	}),
	developerSettings(
		additionalQueryParameters,
		concurrencyField(READS_AT_ONCE, 'How many campaigns to read at the same time'),
	),
];

/** The form, from top to bottom. */
export const statusFields: INodeProperties[] = [
	toolDescriptionField(
		'Gets the progress of a calling campaign: its status, its contact lists, and their call counts. Calls nobody and changes nothing.',
		form,
	),
	...form,
];
