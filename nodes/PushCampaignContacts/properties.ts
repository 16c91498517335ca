import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../shared/n8n/campaignField';
import { agentField } from '../shared/n8n/agentField';
import {
	additionalBodyFields,
	additionalQueryParameters,
	ifUnknownField,
	optionsCollection,
} from '../shared/n8n/options';
import { toolDescriptionField } from '../shared/n8n/toolDescription';
import {
	DEFAULT_NAME_COLUMN,
	DEFAULT_PHONE_COLUMN,
	NAME_SYNONYMS,
	PHONE_SYNONYMS,
} from './feed/columns';
import { MOST_IN_JSON } from './feedRows';
import { LIMITS } from '../shared/api/limits';

const campaignFields: INodeProperties[] = [
	{
		...campaignField,
		description:
			'The number of the campaign that all rows go into. An expression must give the same number for every row.',
	},
	{
		...agentField,
		description:
			'The AI agent that will call the contacts. An expression must give the same agent for every row.',
	},
];

const contactsFields: INodeProperties[] = [
	{
		displayName: 'Contacts From',
		name: 'contactsFrom',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Input Items',
				value: 'items',
				description: 'Each item that comes in is a row, such as those of a spreadsheet',
			},
			{
				name: 'JSON',
				value: 'json',
				description: 'One contact or a few, written here or given by a model',
			},
		],
		default: 'items',
		description: 'Where the contacts come from',
	},
	{
		displayName: 'Contacts',
		name: 'contacts',
		type: 'json',
		default: '',
		required: true,
		placeholder: 'e.g. [{ "phone": "9876543210", "person_name": "Asha Rao", "city": "Pune" }]',
		description: `The contacts as a JSON list of objects, each with its phone number and what the agent is to know, at most ${MOST_IN_JSON.toLocaleString('en-US')}. The names of the values are the columns.`,
		displayOptions: { show: { contactsFrom: ['json'] } },
	},
];

const columnFields: INodeProperties[] = [
	{
		displayName: 'Phone Column',
		name: 'phoneColumn',
		type: 'string',
		requiresDataPath: 'single',
		default: DEFAULT_PHONE_COLUMN,
		required: true,
		placeholder: 'e.g. Mobile Number',
		description: `The name of the input column that holds the phone numbers: enter it, or drag the column here. A dot leads into a nested one (properties.phone). Capital letters and spaces do not matter. If there is no "${DEFAULT_PHONE_COLUMN}", one of these is used: ${PHONE_SYNONYMS.join(', ')}.`,
	},
	{
		displayName: 'Person Name Column',
		name: 'personNameColumn',
		type: 'string',
		requiresDataPath: 'single',
		default: DEFAULT_NAME_COLUMN,
		placeholder: 'e.g. Full Name',
		description: `The name of the input column that holds the names of the people. If there is no "${DEFAULT_NAME_COLUMN}", one of these is used: ${NAME_SYNONYMS.join(', ')}. For first and last names in two columns, add Last Name Column in Options. Leave empty to send no names.`,
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
			'Which of the remaining columns go along with each contact. The agent can use them in its prompt, under the names of the columns. What this node itself adds to rows never goes along, and "row_number" of Google Sheets only where it is listed.',
	},
	{
		displayName: 'Columns to Send',
		name: 'columnsToSend',
		type: 'string',
		requiresDataPath: 'multiple',
		default: '',
		required: true,
		placeholder: 'e.g. city, plan',
		description:
			'The names of the columns to send along, separated by commas: enter them, or drag the columns here. A nested one (properties.city) goes along under its last name.',
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

const feedOptionsField: INodeProperties = optionsCollection(
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
		displayName: 'Dry Run',
		name: 'dryRun',
		type: 'boolean',
		default: false,
		description:
			'Whether only to check: the rows and their numbers, the credential, and that the campaign takes contacts. Nothing is sent, and what comes out says how many rows are ready.',
	},
	{
		displayName: 'Forget Numbers Fed Before',
		name: 'forgetFed',
		type: 'options',
		options: [
			{
				name: 'All Numbers of All Campaigns',
				value: 'all',
				description: 'Everything that this node remembers',
			},
			{
				name: 'Numbers of These Rows',
				value: 'rows',
				description: 'The numbers that come in, for the campaign of this node',
			},
		],
		default: 'rows',
		description:
			'What to take out of the memory of Skip Numbers Fed Before. As long as this is in Options, nothing is sent: run the node once, then take it out again.',
	},
	ifUnknownField(
		'Read the campaign’s contact lists before each request and, should its answer not come, for two minutes after it. Exactly one new list of this agent with as many contacts queued: pushed. Anything else stays unknown, with what was seen.',
		'Stop the feed and name the rows',
		'What to do when the answer to a request does not come, so that its rows may or may not be in the campaign. The request is not sent again in any case.',
	),
	{
		displayName: 'Last Name Column',
		name: 'lastNameColumn',
		type: 'string',
		requiresDataPath: 'single',
		default: '',
		placeholder: 'e.g. Last Name',
		description:
			'The name of the input column that holds the last names, where Person Name Column holds only the first names: enter it, or drag the column here. Both together are the name of the person; both columns go along as Other Columns too.',
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
				name: 'One Item per Row',
				value: 'rows',
				description:
					'Each row as it came, with feed_status, phone_sent, phone_key and campaign_upload_id, so that the next node can update a sheet or a CRM. Each row comes out once: those that can be called from Pushed, all others from Rejected, duplicates too.',
			},
			{
				name: 'One Summary Item',
				value: 'summary',
				description: 'The answers added up over the whole feed',
			},
		],
		default: 'requests',
		description:
			'What comes out of Pushed. With One Item per Row, connect both outputs to the node that updates your rows.',
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
	{
		displayName: 'Skip Numbers Fed Before',
		name: 'skipFedBefore',
		type: 'boolean',
		default: false,
		description:
			'Whether a number goes into the campaign only once over all runs of this workflow, so that the same growing sheet can be fed every day. What was fed before comes out of Rejected as fed_before. n8n remembers a number before it is sent, and forgets it where it surely did not arrive.',
	},
);

/** What the person sees, from top to bottom. */
export const feedFields: INodeProperties[] = [
	toolDescriptionField(
		'Puts people into a calling campaign, whose AI agent then places real phone calls to them. Use this only for people who are to be called. Answers how many went into the campaign, and for each that did not, why.',
	),
	...campaignFields,
	...contactsFields,
	...columnFields,
	enqueueField,
	feedOptionsField,
];
