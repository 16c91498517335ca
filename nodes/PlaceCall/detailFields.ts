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
		"More information for the agent in this call, as a JSON object. If it has the same name as a field of 'Additional Data', that field is used.",
};

export const additionalDataField: INodeProperties = {
	displayName: 'Additional Data',
	name: 'additionalDataFields',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Field',
	default: {},
	description: 'Information for the agent in this call, such as an order number',
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
					description: 'The value for the agent',
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
	description: 'The opening line of the agent when the call connects, at most 2000 characters',
};

export const dataExtractionField: INodeProperties = {
	displayName: 'Data Extraction',
	name: 'dataExtraction',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Data Point',
	default: {},
	description: 'The data points that the agent tries to extract in this call',
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
					description: 'What the agent should ask or extract',
				},
				{
					displayName: 'Key',
					name: 'key',
					type: 'string',
					default: '',
					placeholder: 'e.g. visit_day',
					description: 'The name under which the value is returned',
				},
				{
					displayName: 'Output Format',
					name: 'outputFormat',
					type: 'string',
					default: '',
					placeholder: 'e.g. yes or no',
					description: 'The expected format of the value, in your own words',
				},
				{
					displayName: 'Required',
					name: 'required',
					type: 'boolean',
					default: false,
					description: 'Whether this value must be collected for the call to count as successful',
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
	description: "Settings for this call that override the agent's",
	options: [
		{
			displayName: 'Allow Callback',
			name: 'enableCallback',
			type: 'boolean',
			default: true,
			description: 'Whether the person may trigger a callback',
		},
		{
			displayName: 'Maximum Call Duration (Seconds)',
			name: 'maxCallDurationSeconds',
			type: 'number',
			typeOptions: bounded(LIMITS.maxCallDurationSeconds),
			default: 600,
			description: 'The maximum length of the call, from 30 to 1800 seconds',
		},
		{
			displayName: 'Retry Attempts',
			name: 'retryMaxAttempts',
			type: 'number',
			typeOptions: bounded(LIMITS.retryMaxAttempts),
			default: 3,
			description:
				"The maximum number of attempts, from 1 to 10. The service doesn't document whether the first call counts as an attempt.",
		},
		{
			displayName: 'Retry Interval (Minutes)',
			name: 'retryIntervalMinutes',
			type: 'number',
			typeOptions: bounded(LIMITS.retryIntervalMinutes),
			default: 30,
			description: 'The interval of the retries, from 1 to 1440 minutes (a day)',
		},
		{
			displayName: 'Retry When Not Answered',
			name: 'retryEnabled',
			type: 'boolean',
			default: true,
			description: 'Whether the service retries automatically if the call is not answered',
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
		'How many calls one agent run or MCP session may place with the tools of this workflow. After that, no call is placed, and the model gets the reason.',
	// n8n also treats its human review variant as a tool, so the resource is checked as well.
	displayOptions: { show: { '@tool': [true], '/resource': [RESOURCE.value] } },
};

/** Options of both operations. */
const SHARED_OPTIONS: INodeProperties[] = [
	additionalBodyFields,
	additionalDataJson,
	additionalQueryParameters,
	callingHoursField,
	concurrencyField(
		1,
		'How many calls to send to the service at the same time. With 1, each call is confirmed before the next one is sent.',
	),
	ifUnknownField(
		"Read the call list for about 30 seconds. If it shows exactly one new call of this agent to this number, its ID is returned. Otherwise, the outcome stays unknown. Needs 'Set Up the Call List' in the credential.",
		'Stop, and report the number that was called',
		"What to do if the service doesn't respond or the response is unclear, so that the call may have been placed. The request is never sent again.",
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
		description: "Instructions that override the agent's system prompt, for this call only",
	},
	{
		displayName: 'Use Legacy Endpoint',
		name: 'useLegacyEndpoint',
		type: 'boolean',
		default: false,
		description:
			'Whether to place the call with the older endpoint /call instead of /v1/call. Both accept and return the same data. The older one is deprecated.',
	},
];

/** The options, with those of one operation. */
export function callOptions(...own: INodeProperties[]): INodeProperties {
	const all = [...SHARED_OPTIONS, ...own];
	return optionsCollection(...all.sort((a, b) => a.displayName.localeCompare(b.displayName)));
}
