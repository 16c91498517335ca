import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../host/forms/campaignField';
import { agentField } from '../host/forms/locatorFields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	optionsCollection,
} from '../host/forms/options';
import { jsonInTools } from '../host/forms/shownWhere';
import { DEFAULT_NAME_COLUMN, DEFAULT_PHONE_COLUMN, PHONE_SYNONYMS } from './push/columns';
import { LIMITS } from '../core/service/limits';
import { NAME_SYNONYMS } from '../core/values/sheetCells';

/** With the names of the columns that the node finds by default. */
export const EXAMPLE_CONTACTS = '[{ "phone": "9876543210", "person_name": "Asha Rao" }]';

/** Enough for what a model or a person writes. */
export const MAX_ROWS_IN_JSON = 1_000;

const MAX_PER_REQUEST = LIMITS.contactsPerRequest;

const campaignFields: INodeProperties[] = [
	{
		...campaignField,
		description:
			'The campaign to add all rows to. An expression must return the same ID for every row.',
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
					'All rows of all CSV files in the input, up to 1,000,000. The first row must name the columns.',
				displayOptions: { hide: { '@tool': [true] } },
			},
			{
				name: 'Input Items',
				value: 'items',
				description:
					'Each item is a row, such as of a spreadsheet. As a tool, only the row that the agent processes.',
			},
			{
				name: 'JSON',
				value: 'json',
				description: 'A few contacts, entered here or given by an AI model',
			},
			{
				name: 'Pasted Rows',
				value: 'pasted',
				description: 'Rows that you copy in a spreadsheet program, and paste here',
				displayOptions: { hide: { '@tool': [true] } },
			},
		],
		default: 'items',
		description: 'Where the contacts come from',
	},
	...jsonInTools({
		displayName: 'Contacts',
		name: 'contacts',
		type: 'json',
		default: '',
		required: true,
		placeholder: 'e.g. [{ "phone": "9876543210", "person_name": "Asha Rao", "city": "Pune" }]',
		description: `A JSON array of contacts, at most ${MAX_ROWS_IN_JSON.toLocaleString('en-US')}, such as ${EXAMPLE_CONTACTS}. Each contact is an object with a phone number and anything else the agent should know. The field names are the columns.`,
		displayOptions: { show: { contactsFrom: ['json'] } },
	}),
	{
		displayName: 'Rows',
		name: 'pastedRows',
		type: 'string',
		typeOptions: { rows: 5 },
		noDataExpression: true,
		default: '',
		required: true,
		placeholder: 'e.g. the columns phone, person_name, and city',
		description:
			'Copy the rows in your spreadsheet program, with the names of the columns, and paste them. The text of a CSV file works, too. The rows are saved with the workflow.',
		displayOptions: { show: { contactsFrom: ['pasted'] } },
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
		description: `The name of the input column with the phone numbers. Enter the name, or drag the column here. Use dots for nested columns (properties.phone). Case, spaces, underscores, and hyphens between words don't matter. If the input has no column '${DEFAULT_PHONE_COLUMN}', the node looks for ${PHONE_SYNONYMS.slice(0, -1).join(', ')}, or ${PHONE_SYNONYMS.at(-1)}.`,
	},
	{
		displayName: 'Person Name Column',
		name: 'personNameColumn',
		type: 'string',
		requiresDataPath: 'single',
		default: DEFAULT_NAME_COLUMN,
		placeholder: 'e.g. Full Name',
		description: `The name of the input column with the names of the people. If the input has no column '${DEFAULT_NAME_COLUMN}', the node looks for ${NAME_SYNONYMS.slice(0, -1).join(', ')}, or ${NAME_SYNONYMS.at(-1)}. Leave empty to send no names.`,
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
			'Which other columns to send with each contact. The agent can use them as variables in its prompt. Columns that this node adds are never sent. "row_number" from Google Sheets is sent only if you list it. So are the ID, "createdAt", and "updatedAt" of rows that have all three columns, as in data tables of n8n.',
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
			'The names of the columns to send, separated by commas. Enter the names, or drag the columns here. A nested column (properties.city) is sent under the last part of its name.',
		displayOptions: { show: { otherColumns: ['listed'] } },
	},
];

const whatToDoField: INodeProperties = {
	displayName: 'What to Do',
	name: 'whatToDo',
	type: 'options',
	options: [
		{
			name: 'Check Only',
			value: 'check',
			description: 'Check the rows, campaign, and agent, and send nothing',
		},
		{
			name: 'Add and Release',
			value: 'release',
			description:
				"Add the rows, and have the people called on the campaign's calling days and in its call window",
		},
		{
			name: 'Add and Let Wait',
			value: 'wait',
			description:
				"Add the rows, and call nobody. The service's documentation shows no way to release them later.",
		},
	],
	default: 'check',
	description:
		"Whether to check the rows, or to push them, and whether people are called then. 'Add and Release' releases the rows to the agent's calling queue, so the agent needs an outbound number.",
};

const checkNotice: INodeProperties = {
	displayName:
		'This node checks the rows, and sends nothing. Look at <b>Rejected</b>, and then choose <b>Add and Release</b>.',
	name: 'checkNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { whatToDo: ['check'] }, hide: { '@tool': [true] } },
};

/** A tool has no output Rejected. */
const toolCheckNotice: INodeProperties = {
	displayName:
		'This tool only checks contacts, and sends nothing. To have people called, choose <b>Add and Release</b>.',
	name: 'toolCheckNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { whatToDo: ['check'], '@tool': [true] } },
};

/** One click on *Execute step* is enough to start calls. */
const callNotice: INodeProperties = {
	displayName:
		"Executing this node can start real phone calls right away, on the campaign's calling days and in its call window",
	name: 'callNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { whatToDo: ['release'] }, hide: { '@tool': [true] } },
};

const toolCallNotice: INodeProperties = {
	displayName:
		'An AI model decides when this node releases contacts, which can start real phone calls right away. Executing this step releases contacts, too.',
	name: 'toolCallNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { whatToDo: ['release'], '@tool': [true] } },
};

/** Pushing again doesn't release them. */
const waitNotice: INodeProperties = {
	displayName:
		"The contacts wait in the campaign, and nobody is called. The service's documentation shows no way to release them later.",
	name: 'waitNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { whatToDo: ['wait'] } },
};

/** A second click, or tomorrow's run of a growing sheet, adds nobody twice. */
const pushedBeforeField: INodeProperties = {
	displayName: 'Numbers Pushed Before',
	name: 'numbersPushedBefore',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Push Again',
			value: 'pushAgain',
			description: "Push all numbers. The workflow doesn't remember them.",
		},
		{
			name: 'Skip',
			value: 'skipNumbers',
			description: 'Push each number to the campaign once over all executions of this workflow',
		},
	],
	default: 'skipNumbers',
	description:
		'What to do with numbers that this workflow has pushed to the campaign before. Skipped returns the skipped ones.',
};

const pushOptionsField: INodeProperties = optionsCollection(
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'One Item per Row',
				value: 'rows',
				description:
					'Each row with its push_status and phone_key, so that the next node can update a sheet or a CRM',
			},
			{
				name: 'One Summary Item',
				value: 'summary',
				description: 'The totals of the whole push',
			},
		],
		default: 'rows',
		description:
			'What the Pushed output returns. The other outputs return the other rows. To update your rows, connect Pushed, Rejected, and Skipped to the node that does it. Rows whose push_status is unknown, sent_before, or duplicate are left out of later pushes until you empty it.',
	},
	additionalBodyFields,
	additionalQueryParameters,
	{
		displayName: 'Contacts per Request',
		name: 'contactsPerRequest',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: MAX_PER_REQUEST, numberPrecision: 0 },
		default: MAX_PER_REQUEST,
		description: `How many contacts to send per request, at most ${MAX_PER_REQUEST.toLocaleString('en-US')}. The node sends as many requests as it needs. With fewer contacts per request, fewer rows have an unknown outcome if the connection breaks.`,
	},
);

/** The form, from top to bottom. */
export const pushFields: INodeProperties[] = [
	whatToDoField,
	checkNotice,
	toolCheckNotice,
	callNotice,
	toolCallNotice,
	waitNotice,
	...campaignFields,
	...contactsFields,
	...columnFields,
	pushedBeforeField,
	pushOptionsField,
];
