import type { INodeProperties } from 'n8n-workflow';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	ifUnknownField,
	optionsCollection,
} from '../shared/n8n/forms/options';
import { callingHoursField, outsideHoursField } from './callingHoursFields';
import { RESOURCE } from './humanReview';
import { LIMITS } from '../shared/api/limits';

const additionalDataJson: INodeProperties = {
	displayName: 'Additional Data as JSON',
	name: 'additionalDataJson',
	type: 'json',
	default: '',
	placeholder: 'e.g. { "order_number": "A-1042" }',
	description:
		'What else the agent should know in this call, as a JSON object, in addition to the fields of Additional Data',
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
					description: 'The name of the value for the agent',
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

export const greetingField: INodeProperties = {
	displayName: 'Initial Greeting',
	name: 'initialGreeting',
	type: 'string',
	typeOptions: { rows: 2 },
	default: '',
	placeholder: 'e.g. Hello, this is Priya from Sunrise Homes.',
	description: 'What the agent says first when the call is answered, at most 2000 characters',
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
					description: 'The name of the value in the result',
				},
				{
					displayName: 'Output Format',
					name: 'outputFormat',
					type: 'string',
					default: '',
					placeholder: 'e.g. yes or no',
					description: 'The format of the value, in your own words',
				},
				{
					displayName: 'Required',
					name: 'required',
					type: 'boolean',
					default: false,
					description: 'Whether the call only counts as successful if this was found out',
				},
			],
		},
	],
};

export const callSettingsField: INodeProperties = {
	displayName: 'Call Settings',
	name: 'callConfigOverrides',
	type: 'collection',
	placeholder: 'Add Option',
	default: {},
	description: 'Settings for this call that replace those of the agent',
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
			description: 'How long a call may last, from 30 to 1800 seconds',
		},
		{
			displayName: 'Retry Attempts',
			name: 'retryMaxAttempts',
			type: 'number',
			typeOptions: bounded(LIMITS.retryMaxAttempts),
			default: 3,
			description: 'How often the service calls again if nobody answers, from 1 to 10 times',
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
			description: 'Whether the service calls again if nobody answers',
		},
	],
};

function bounded({ min, max }: { min: number; max: number }) {
	return { minValue: min, maxValue: max, numberPrecision: 0 };
}

const maximumCallsField: INodeProperties = {
	displayName: 'Maximum Calls per Agent Run',
	name: 'maximumCallsPerRun',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 3,
	description:
		'How many calls one run of the agent, or one session of an MCP client, may place with the tools of this workflow. After that, nobody is called and the model gets the reason.',
	// n8n takes its variant for human review, which is no tool of a model, for one.
	displayOptions: { show: { '@tool': [true], '/resource': [RESOURCE.value] } },
};

/** Options of every call. */
const OF_EVERY_CALL: INodeProperties[] = [
	additionalBodyFields,
	additionalDataJson,
	additionalQueryParameters,
	callingHoursField,
	concurrencyField(
		1,
		'How many calls to send to the service at the same time. With 1, each call is confirmed before the next one is sent.',
	),
	ifUnknownField(
		'Read the call list for half a minute. If it shows exactly one new call of this agent to this number, the call was placed and its ID is returned. Otherwise the outcome stays unknown, and the node reports what it saw. Needs Set Up the Call List in the credential.',
		'Stop and report which call it is',
		'What to do if the service does not respond, so that the call may or may not have been placed. The request is never sent again.',
	),
	{
		displayName: 'Include Input Fields',
		name: 'includeInputFields',
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description:
			'Whether to return each call with the fields of its input item, such as the row number of a sheet. A field of the call replaces an input field with the same name.',
	},
	maximumCallsField,
	outsideHoursField,
	{
		displayName: 'System Prompt',
		name: 'systemPrompt',
		type: 'string',
		typeOptions: { rows: 5 },
		default: '',
		description:
			'Instructions for the agent that replace its own system prompt, for this call only',
	},
	{
		displayName: 'Use Legacy Endpoint',
		name: 'useLegacyEndpoint',
		type: 'boolean',
		default: false,
		description:
			'Whether to place the call with the older endpoint /call instead of /v1/call. Both accept and return the same; the older one is deprecated.',
	},
];

/** The options, with those that the operation has beside them. */
export function callOptions(...own: INodeProperties[]): INodeProperties {
	const all = [...OF_EVERY_CALL, ...own];
	return optionsCollection(...all.sort((a, b) => a.displayName.localeCompare(b.displayName)));
}
