import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../shared/n8n/forms/campaignField';
import { agentField } from '../shared/n8n/forms/agentField';
import {
	additionalBodyFields,
	additionalQueryParameters,
	ifUnknownField,
	optionsCollection,
} from '../shared/n8n/forms/options';
import { jsonInTools } from '../shared/n8n/tools/textInTools';
import { toolDescriptionField } from '../shared/n8n/tools/toolDescription';
import {
	DEFAULT_NAME_COLUMN,
	DEFAULT_PHONE_COLUMN,
	NAME_SYNONYMS,
	PHONE_SYNONYMS,
} from './push/columns';
import { MAX_ROWS_IN_JSON } from './inputRows';
import { LIMITS } from '../shared/api/limits';

const campaignFields: INodeProperties[] = [
	{
		...campaignField,
		description:
			'The ID of the campaign to add all rows to. An expression must return the same ID for every row.',
	},
	{
		...agentField,
		description:
			'The AI agent that calls the contacts. An expression must return the same agent for every row.',
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
				name: 'CSV File',
				value: 'csv',
				description:
					'The rows of a file that comes in, such as an export or an upload, of any size',
				displayOptions: { hide: { '@tool': [true] } },
			},
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
		displayName: 'Input Binary Field',
		name: 'binaryPropertyName',
		type: 'string',
		default: 'data',
		required: true,
		placeholder: 'e.g. data',
		hint: 'The name of the input field containing the CSV file',
		description:
			'The name of the binary field that holds the CSV file. Its first row names the columns. If several items come in, the files of all of them are pushed, one after another, as one push.',
		displayOptions: { show: { contactsFrom: ['csv'] }, hide: { '@tool': [true] } },
	},
	...jsonInTools({
		displayName: 'Contacts',
		name: 'contacts',
		type: 'json',
		default: '',
		required: true,
		placeholder: 'e.g. [{ "phone": "9876543210", "person_name": "Asha Rao", "city": "Pune" }]',
		description: `The contacts as a JSON list of objects, each with its phone number and what the agent is to know, at most ${MAX_ROWS_IN_JSON.toLocaleString('en-US')}. The names of the values are the columns.`,
		displayOptions: { show: { contactsFrom: ['json'] } },
	}),
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
		description: `The name of the input column that holds the phone numbers: enter it, or drag the column here. Use dots for nested columns (properties.phone). Capital letters and spaces do not matter. If there is no "${DEFAULT_PHONE_COLUMN}", one of these is used: ${PHONE_SYNONYMS.join(', ')}.`,
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
			{ name: 'Send None', value: 'none' },
			{ name: 'Send Only Some', value: 'listed' },
		],
		default: 'all',
		description:
			'Which of the remaining columns to send with each contact. The agent can use them in its prompt by their names. Columns that this node adds are never sent, and "row_number" of Google Sheets only if it is listed.',
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
			'The names of the columns to send, separated by commas: enter them, or drag the columns here. A nested column (properties.city) is sent by its last name.',
		displayOptions: { show: { otherColumns: ['listed'] } },
	},
];

const enqueueField: INodeProperties = {
	displayName: 'Release to Calling Queue',
	name: 'enqueue',
	type: 'boolean',
	default: false,
	description:
		'Whether to release the contacts to the calling queue of the agent immediately, so that they may be called right away. The agent needs an outbound number for this. With this off, the contacts wait in the campaign.',
};

/** Said where one click is enough. */
const callNotice: INodeProperties = {
	displayName:
		'Executing this node releases the contacts: real phone calls may begin right away, as soon as the campaign may call.',
	name: 'callNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { enqueue: [true] } },
};

const pushOptionsField: INodeProperties = optionsCollection(
	additionalBodyFields,
	additionalQueryParameters,
	{
		displayName: 'Contacts per Request',
		name: 'contactsPerRequest',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: LIMITS.contactsPerRequest, numberPrecision: 0 },
		default: 10_000,
		description:
			'How many contacts to send per request. Any number of rows is sent, in as many requests as needed. With fewer contacts per request, fewer rows are in doubt if the connection breaks.',
	},
	{
		displayName: 'Delimiter',
		name: 'delimiter',
		type: 'string',
		default: '',
		placeholder: 'e.g. ;',
		description:
			'The character between the cells of the CSV file; \\t is a tab. Leave empty to find out from the file, which works for commas, semicolons, tabs and pipes.',
		displayOptions: { show: { '/contactsFrom': ['csv'] }, hide: { '@tool': [true] } },
	},
	{
		displayName: 'Dry Run',
		name: 'dryRun',
		type: 'boolean',
		default: false,
		description:
			'Whether to only check the rows and their numbers, the credential and the campaign. Nothing is sent, and the output says how many rows are ready.',
	},
	{
		displayName: 'Encoding',
		name: 'encoding',
		type: 'options',
		options: [
			{
				name: 'Automatic',
				value: 'automatic',
				description: 'Detect the encoding from the file',
			},
			{ name: 'Mac Roman', value: 'macintosh' },
			{ name: 'UTF-16BE', value: 'utf-16be' },
			{ name: 'UTF-16LE', value: 'utf-16le' },
			{ name: 'UTF-8', value: 'utf-8' },
			{ name: 'Windows-1250 (Central European)', value: 'windows-1250' },
			{ name: 'Windows-1251 (Cyrillic)', value: 'windows-1251' },
			{ name: 'Windows-1252 (Western European)', value: 'windows-1252' },
		],
		default: 'automatic',
		description:
			'How the letters of the CSV file are encoded. A byte order mark in the file always counts.',
		displayOptions: { show: { '/contactsFrom': ['csv'] }, hide: { '@tool': [true] } },
	},
	{
		displayName: 'Forget Pushed Numbers',
		name: 'forgetPushed',
		type: 'options',
		options: [
			{
				name: 'All Numbers of All Campaigns',
				value: 'all',
				description: 'Forget everything that this node remembers',
			},
			{
				name: 'Numbers of These Rows',
				value: 'rows',
				description: 'Forget the numbers of the input, for the campaign of this node',
			},
		],
		default: 'rows',
		description:
			'What to remove from the memory of Skip Numbers Pushed Before. While this option is set, nothing is sent: run the node once, then remove the option.',
	},
	ifUnknownField(
		'Read the contact lists of the campaign before each request and, if there is no response, for two minutes after it. If they show exactly one new list of this agent with as many queued contacts, the rows were pushed. Otherwise the outcome stays unknown, and the node reports what it saw.',
		'Stop the push and report which rows they are',
		'What to do if the service does not respond, so that the rows of a request may or may not be in the campaign. The request is never sent again.',
	),
	{
		displayName: 'Last Name Column',
		name: 'lastNameColumn',
		type: 'string',
		requiresDataPath: 'single',
		default: '',
		placeholder: 'e.g. Last Name',
		description:
			'The name of the input column that holds the last names, where Person Name Column holds only the first names: enter it, or drag the column here. Both together are the name of the person; both columns are also sent as Other Columns.',
	},
	{
		displayName: 'Normalize Phone Numbers',
		name: 'normalizePhones',
		type: 'boolean',
		default: true,
		description:
			'Whether to convert phone numbers to the format that the service accepts, and to reject rows without a usable number before anything is sent. With this off, numbers are sent as they are.',
	},
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		options: [
			{
				name: 'One Item per Request',
				value: 'requests',
				description: 'The whole response of the service to each request',
			},
			{
				name: 'One Item per Row',
				value: 'rows',
				description:
					'Each row with push_status, phone_sent, phone_key and campaign_upload_id, so that the next node can update a sheet or a CRM. Each row is returned once: rows that can be called in Pushed, all others in Rejected, including duplicates.',
			},
			{
				name: 'One Summary Item',
				value: 'summary',
				description: 'The totals of the whole push',
			},
		],
		default: 'requests',
		description:
			'What the Pushed output returns. With One Item per Row, connect both outputs to the node that updates your rows.',
	},
	{
		displayName: 'Put Duplicates in Rejected',
		name: 'reportDuplicates',
		type: 'boolean',
		default: false,
		description:
			'Whether to return duplicate rows in Rejected, each with the item that is sent instead. With this off, they are only counted.',
	},
	{
		displayName: 'Remove Duplicates',
		name: 'removeDuplicates',
		type: 'boolean',
		default: true,
		description:
			'Whether to send only one of several rows with the same phone number: the row with the longest name, or else the first. All rows of a run are compared.',
	},
	{
		displayName: 'Skip Numbers Pushed Before',
		name: 'skipPushedBefore',
		type: 'boolean',
		default: false,
		description:
			'Whether to add a number to the campaign only once over all runs of this workflow, so that you can push the same growing sheet every day. Numbers that were pushed before are returned in Rejected as pushed_before. n8n remembers a number before it is sent, and forgets it if it certainly did not arrive.',
	},
);

const form: INodeProperties[] = [
	...campaignFields,
	...contactsFields,
	...columnFields,
	enqueueField,
	callNotice,
	pushOptionsField,
];

/** What the person sees, from top to bottom. */
export const pushFields: INodeProperties[] = [
	toolDescriptionField(
		'Puts people into a calling campaign, whose AI agent then places real phone calls to them. Use this only for people who are to be called. Answers how many went into the campaign, and for each that did not, why.',
		form,
	),
	...form,
];
