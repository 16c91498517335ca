import type { INodeProperties } from 'n8n-workflow';
import { campaignField, agentField } from '../host/forms/locatorFields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	optionsCollection,
} from '../host/forms/options';
import { jsonInTools } from '../host/forms/shownWhere';
import { DEFAULT_NAME_COLUMN, DEFAULT_PHONE_COLUMN } from './push/columns';
import { LIMITS } from '../core/service/limits';

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
				description: 'Contacts that the AI model gives',
				displayOptions: { show: { '@tool': [true] } },
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
		description: `A JSON array of up to ${MAX_ROWS_IN_JSON.toLocaleString('en-US')} contacts, whose other fields the agent can use, such as ${EXAMPLE_CONTACTS}`,
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
			'Copy the rows in your spreadsheet program, with the names of the columns, and paste them. n8n saves them with the workflow.',
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
		description:
			'The input column with the phone numbers. Enter its name, or drag it here. Usual names, such as Mobile Number, are found, too.',
	},
	{
		displayName: 'Person Name Column',
		name: 'personNameColumn',
		type: 'string',
		requiresDataPath: 'single',
		default: DEFAULT_NAME_COLUMN,
		placeholder: 'e.g. Full Name',
		description:
			'The input column with the names of the people. Usual names, such as Full Name, are found, too. Leave empty to send no names.',
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
	description: 'Whether to check the rows, or to push them, and whether people are called then',
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
		'An AI model decides when this node releases contacts, which can start real phone calls. Executing this step does, too.',
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
			'What the first output returns. To update your rows, connect all three outputs to the node that does it.',
	},
	{
		displayName: 'Columns to Send',
		name: 'columnsToSend',
		type: 'string',
		requiresDataPath: 'multiple',
		default: '',
		placeholder: 'e.g. city, plan',
		description:
			"The other columns to send, for the agent's prompt. Enter their names, or drag them here. Empty for none, without this option all.",
	},
	additionalBodyFields,
	additionalQueryParameters,
	{
		displayName: 'Contacts per Request',
		name: 'contactsPerRequest',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: MAX_PER_REQUEST, numberPrecision: 0 },
		default: MAX_PER_REQUEST,
		description:
			'How many contacts to send per request. With fewer, fewer rows have an unknown outcome if the connection breaks.',
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
