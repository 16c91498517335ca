import type { INodeProperties } from 'n8n-workflow';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	ifUnknownField,
	optionsCollection,
} from '../shared/n8n/options';
import { callingHoursField, outsideHoursField } from './callingHoursFields';
import { LIMITS } from '../shared/api/limits';

const additionalDataJson: INodeProperties = {
	displayName: 'Additional Data as JSON',
	name: 'additionalDataJson',
	type: 'json',
	default: '',
	placeholder: 'e.g. { "order_number": "A-1042" }',
	description:
		'What else the agent should know in this call: names and values in curly brackets, beside the fields of Additional Data',
};

export const additionalDataField: INodeProperties = {
	displayName: 'Additional Data',
	name: 'additionalDataFields',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Field',
	default: {},
	description: 'What else the agent should know in this call, such as an order number',
	options: [
		{
			displayName: 'Field',
			name: 'fields',
			values: [
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					placeholder: 'e.g. order_number',
					description: 'The name under which the agent knows the value',
				},
				{
					displayName: 'Value',
					name: 'value',
					type: 'string',
					default: '',
					placeholder: 'e.g. A-1042',
					description: 'What the agent should know',
				},
			],
		},
	],
};

/** A choice of earlier versions of this form is shown only where a saved workflow has made it. */
export const additionalDataFields: INodeProperties[] = [
	{
		displayName: 'Additional Data From',
		name: 'additionalDataFrom',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'From Fields Below', value: 'fields' },
			{ name: 'From JSON', value: 'json' },
		],
		default: 'fields',
		description: 'What else the agent should know in this call, such as an order number',
		displayOptions: { show: { '/additionalDataFrom': ['json'] } },
	},
	{ ...additionalDataField, displayOptions: { hide: { additionalDataFrom: ['json'] } } },
	{
		...additionalDataJson,
		displayName: 'JSON',
		displayOptions: { show: { additionalDataFrom: ['json'] } },
	},
];

export const greetingField: INodeProperties = {
	displayName: 'Initial Greeting',
	name: 'initialGreeting',
	type: 'string',
	typeOptions: { rows: 2 },
	default: '',
	placeholder: 'e.g. Hello, this is Priya from Sunrise Homes.',
	description: 'What the agent says first when the call connects, at most 2000 characters',
};

export const dataExtractionField: INodeProperties = {
	displayName: 'Data Extraction',
	name: 'dataExtraction',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Data Point',
	default: {},
	description: 'What the agent should find out in this call',
	options: [
		{
			displayName: 'Data Point',
			name: 'points',
			values: [
				{
					displayName: 'Description',
					name: 'description',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. Ask which day suits a visit',
					description: 'What the agent should ask or find out',
				},
				{
					displayName: 'Key',
					name: 'key',
					type: 'string',
					default: '',
					placeholder: 'e.g. visit_day',
					description: 'The name under which the value comes back',
				},
				{
					displayName: 'Output Format',
					name: 'outputFormat',
					type: 'string',
					default: '',
					placeholder: 'e.g. yes or no',
					description: 'The form of the value, in your own words',
				},
				{
					displayName: 'Required',
					name: 'required',
					type: 'boolean',
					default: false,
					description: 'Whether the call only counts as successful when this was found out',
				},
			],
		},
	],
};

export const callSettingsField: INodeProperties = {
	displayName: 'Call Settings',
	name: 'callConfigOverrides',
	type: 'collection',
	placeholder: 'Add Setting',
	default: {},
	description: 'Settings for this call in place of the agent’s own',
	options: [
		{
			displayName: 'Allow Callback',
			name: 'enableCallback',
			type: 'boolean',
			default: true,
			description: 'Whether the person may ask to be called back',
		},
		{
			displayName: 'Maximum Call Duration (Seconds)',
			name: 'maxCallDurationSeconds',
			type: 'number',
			typeOptions: bounded(LIMITS.maxCallDurationSeconds),
			default: 600,
			description: 'How long a call may last before it is ended, from 30 to 1800 seconds',
		},
		{
			displayName: 'Retry Attempts',
			name: 'retryMaxAttempts',
			type: 'number',
			typeOptions: bounded(LIMITS.retryMaxAttempts),
			default: 3,
			description: 'How often the service tries again when nobody answers, from 1 to 10',
		},
		{
			displayName: 'Retry Interval (Minutes)',
			name: 'retryIntervalMinutes',
			type: 'number',
			typeOptions: bounded(LIMITS.retryIntervalMinutes),
			default: 30,
			description: 'How long to wait between two attempts, from 1 to 1440 minutes (a day)',
		},
		{
			displayName: 'Retry When Not Answered',
			name: 'retryEnabled',
			type: 'boolean',
			default: true,
			description: 'Whether the service calls again by itself when nobody answers',
		},
	],
};

function bounded({ min, max }: { min: number; max: number }) {
	return { minValue: min, maxValue: max, numberPrecision: 0 };
}

/** Options of every call. */
const OF_EVERY_CALL: INodeProperties[] = [
	additionalBodyFields,
	additionalDataJson,
	additionalQueryParameters,
	callingHoursField,
	concurrencyField(
		1,
		'How many calls are handed to the service at the same time. With 1, each is confirmed before the next is sent.',
	),
	ifUnknownField(
		'Read the call list for half a minute. Exactly one new call of this agent to this number: it was placed, and its ID comes out. Anything else stays unknown, and what was seen is told. Needs the call list in the credential, under API Mapping.',
		'Stop and name the call',
		'What to do when the answer to a request does not come, so that the call may or may not have been placed. The request is not sent again in any case.',
	),
	{
		displayName: 'Include Input Fields',
		name: 'includeInputFields',
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description:
			'Whether each call comes out with the fields of its item, such as the row number of a sheet. A field of the call replaces one of the same name.',
	},
	outsideHoursField,
	{
		displayName: 'System Prompt',
		name: 'systemPrompt',
		type: 'string',
		typeOptions: { rows: 5 },
		default: '',
		description: 'Instructions for the agent in place of its own system prompt, for this call only',
	},
	{
		displayName: 'Use Legacy Endpoint',
		name: 'useLegacyEndpoint',
		type: 'boolean',
		default: false,
		description:
			'Whether to place the call through the older address /call in place of /v1/call. Both take and return the same; the older one is deprecated.',
	},
];

/** The options, with those that the operation has beside them. */
export function callOptions(...own: INodeProperties[]): INodeProperties {
	const all = [...OF_EVERY_CALL, ...own];
	return optionsCollection(...all.sort((a, b) => a.displayName.localeCompare(b.displayName)));
}
