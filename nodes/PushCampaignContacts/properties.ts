import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/agentField';
import { additionalBodyFields, additionalQueryParameters } from '../shared/n8n/options';
import {
	DEFAULT_NAME_COLUMN,
	DEFAULT_PHONE_COLUMN,
	NAME_SYNONYMS,
	PHONE_SYNONYMS,
} from './feed/columns';
import { LIMITS } from '../shared/api/limits';

const campaignFields: INodeProperties[] = [
	{
		displayName: 'Campaign ID',
		name: 'campaignId',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. 42',
		description:
			'The number of the campaign that all rows go into. An expression must give the same number for every row.',
	},
	{
		...agentField,
		description:
			'The AI agent that will call the contacts. An expression must give the same agent for every row.',
	},
];

const columnFields: INodeProperties[] = [
	{
		displayName: 'Phone Column',
		name: 'phoneColumn',
		type: 'string',
		default: DEFAULT_PHONE_COLUMN,
		required: true,
		placeholder: 'e.g. Mobile Number',
		description: `The name of the input column that holds the phone numbers. Capital letters and spaces do not matter. If there is no "${DEFAULT_PHONE_COLUMN}", one of these is used: ${PHONE_SYNONYMS.join(', ')}.`,
	},
	{
		displayName: 'Person Name Column',
		name: 'personNameColumn',
		type: 'string',
		default: DEFAULT_NAME_COLUMN,
		placeholder: 'e.g. Full Name',
		description: `The name of the input column that holds the names of the people. If there is no "${DEFAULT_NAME_COLUMN}", one of these is used: ${NAME_SYNONYMS.join(', ')}. Leave empty to send no names.`,
	},
	{
		displayName: 'Other Columns',
		name: 'otherColumns',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Send All', value: 'all' },
			{ name: 'Send Only Some', value: 'listed' },
			{ name: 'Send None', value: 'none' },
		],
		default: 'all',
		description:
			'Which of the remaining columns go along with each contact. The agent can use them in its prompt, under the names of the columns.',
	},
	{
		displayName: 'Columns to Send',
		name: 'columnsToSend',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. city, plan',
		description: 'The names of the columns to send along, separated by commas',
		displayOptions: { show: { otherColumns: ['listed'] } },
	},
];

const enqueueField: INodeProperties = {
	displayName: 'Release to Calling Queue',
	name: 'enqueue',
	type: 'boolean',
	default: false,
	description:
		'Whether the contacts are released to the agent’s calling queue immediately, so that they may be called at once. The agent needs an outbound number for this. When off, the contacts only wait in the campaign.',
};

const feedOptionsField: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [
		additionalBodyFields,
		additionalQueryParameters,
		{
			displayName: 'Contacts per Request',
			name: 'contactsPerRequest',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: LIMITS.contactsPerRequest, numberPrecision: 0 },
			default: 10_000,
			description:
				'How many contacts go to the service at once. Any number of rows is sent, in as many requests as it takes. With fewer contacts per request, fewer rows are in doubt should the connection break.',
		},
		{
			displayName: 'Normalize Phone Numbers',
			name: 'normalizePhones',
			type: 'boolean',
			default: true,
			description:
				'Whether to bring the numbers into the form that the service accepts, whatever the spreadsheet made of them, and to reject rows without a usable number before anything is sent. When off, numbers are sent as they are.',
		},
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{
					name: 'One Item per Request',
					value: 'requests',
					description: 'The service’s whole answer to each request',
				},
				{
					name: 'One Summary Item',
					value: 'summary',
					description: 'The answers added up over the whole feed',
				},
			],
			default: 'requests',
			description: 'What comes out of Pushed',
		},
		{
			displayName: 'Put Duplicates in Rejected',
			name: 'reportDuplicates',
			type: 'boolean',
			default: false,
			description:
				'Whether the rows that are left out as duplicates come out of Rejected too, each with the item that is sent instead. When off, they are only counted.',
		},
		{
			displayName: 'Remove Duplicates',
			name: 'removeDuplicates',
			type: 'boolean',
			default: true,
			description:
				'Whether only one of several rows with the same phone number is sent: the row with the longest name, with all its columns, or else the first. All rows that come in at once are compared, also across requests.',
		},
	],
};

/** What the person sees, from top to bottom. */
export const feedFields: INodeProperties[] = [
	...campaignFields,
	...columnFields,
	enqueueField,
	feedOptionsField,
];
