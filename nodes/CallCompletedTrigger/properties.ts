import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/forms/agentField';
import { campaignField } from '../shared/n8n/forms/campaignField';
import { OBSERVED_OUTCOMES } from '../shared/calls/callEnd';
import { UNREAD_BODY } from '../shared/n8n/triggers/webhookResponse';

const filters: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description: 'Which calls start the workflow. Without a filter, every call does.',
	options: [
		{ ...omit(agentField, 'required'), description: 'Only calls of this agent' },
		{
			displayName: 'Campaign IDs',
			name: 'campaignIds',
			type: 'string',
			default: '',
			placeholder: 'e.g. 42, 43',
			description: 'Only calls of these campaigns, separated by commas',
		},
		{
			displayName: 'Statuses',
			name: 'statuses',
			type: 'string',
			default: '',
			placeholder: 'e.g. picked, not_picked',
			description:
				'Only calls that ended with one of these statuses, separated by commas. Known statuses are picked, not_picked, and failed. The service may have others.',
		},
	],
};

const options: INodeProperties = {
	displayName: 'Options',
	name: 'settings',
	type: 'collection',
	placeholder: 'Add Option',
	default: {},
	options: [
		{
			displayName: 'Allow Duplicates',
			name: 'allowDuplicates',
			type: 'boolean',
			default: true,
			description:
				'Whether a call that was received before starts the workflow again. If off, each outcome of a call starts it once, for as long as n8n keeps the execution.',
			displayOptions: { show: { '/getCalls': ['webhook'] } },
		},
		{
			displayName: 'Finished Statuses',
			name: 'finishedStatuses',
			type: 'string',
			default: OBSERVED_OUTCOMES.join(', '),
			description:
				"Statuses of completed calls, separated by commas. A call with the status picked is completed when its record also has an end reason, a summary, or an analysis. Other calls don't start the workflow. Known statuses are picked, not_picked, and failed. Add any others that your account uses.",
		},
		{
			displayName: 'Respond',
			name: 'respond',
			type: 'options',
			options: [
				{
					name: 'Immediately',
					value: 'immediately',
					description:
						"Before the call is verified, for a service with a short timeout. A forged request still doesn't start the workflow.",
				},
				{
					name: 'When the Call Is Verified',
					value: 'verified',
					description:
						"Forged requests are rejected. If the call can't be read, the service is asked to try again.",
				},
			],
			default: 'verified',
			description: 'When to respond to the service',
			displayOptions: { hide: { '/getCalls': ['reading'] } },
		},
	],
};

const include: INodeProperties = {
	displayName: 'Include',
	name: 'include',
	type: 'multiOptions',
	options: [
		{ name: 'Recording', value: 'recording' },
		{ name: 'Transcript', value: 'transcript' },
	],
	default: [],
	description:
		"What else to read for the call. The link to a recording is valid for 15 minutes. It's null if the call has no recording.",
};

const READS = ['reading', 'webhookAndReading'];

/** Shows a field for the ways that read the calls. */
function shownForReading(field: INodeProperties, callsOf?: string): INodeProperties {
	const show = { getCalls: READS, ...(callsOf !== undefined && { callsOf: [callsOf] }) };
	return { ...field, displayOptions: { show } };
}

const readingFields: INodeProperties[] = [
	shownForReading({
		displayName: 'Calls Of',
		name: 'callsOf',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'All Calls',
				value: 'all',
				description: 'All calls of the account. Each reading reads the whole call list.',
			},
			{
				name: 'Campaign',
				value: 'campaign',
				description: 'The contact lists of a campaign, also those that are added later',
			},
			{ name: 'Contact Lists', value: 'lists', description: 'The contact lists with these IDs' },
		],
		default: 'campaign',
		description: "Which calls to read. Requires 'Set Up the Call List' in the credential.",
	}),
	shownForReading(
		{ ...campaignField, description: 'The campaign whose calls to read' },
		'campaign',
	),
	shownForReading(
		{
			displayName: 'Contact List IDs',
			name: 'contactListIds',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. 314, 315',
			description:
				'The contact lists, separated by commas: the campaign_upload_id that Push Campaign Contacts returns',
		},
		'lists',
	),
	shownForReading({
		displayName: 'Check Every (Minutes)',
		name: 'checkEvery',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 1440, numberPrecision: 0 },
		default: 5,
		description: 'How long to wait between two readings, from 1 to 1440 minutes',
	}),
	shownForReading({
		displayName: 'Start From',
		name: 'startFrom',
		type: 'dateTime',
		default: '',
		description:
			"Calls that were created at this time or later start the workflow. Leave empty to start it only for calls that end after it's published.",
		hint: 'In the time zone of this workflow',
	}),
];

/** The form, from top to bottom. */
export const completionFields: INodeProperties[] = [
	{
		displayName: 'Get Calls',
		name: 'getCalls',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'By Reading the Calls',
				value: 'reading',
				description:
					'Reads the calls at intervals. Needs no public URL, and works for calls of campaigns.',
			},
			{
				name: 'By Webhook',
				value: 'webhook',
				description: 'The service sends each completed call to the URL of this trigger',
			},
			{
				name: 'By Webhook and Reading',
				value: 'webhookAndReading',
				description:
					'Both, so that calls whose delivery was lost start the workflow, too. Each outcome of a call starts it once.',
			},
		],
		default: 'webhook',
		description: 'How the trigger learns of completed calls',
	},
	{
		displayName:
			'Open <b>Webhook URLs</b> above, choose <b>Production URL</b>, and copy it to the option <b>Webhook URL</b> of Place Call. The agent needs post-call analysis.',
		name: 'webhookUrlNotice',
		type: 'notice',
		default: '',
		displayOptions: { hide: { getCalls: ['reading'] } },
	},
	...readingFields,
	{
		displayName: 'Verify Call',
		name: 'verify',
		type: 'boolean',
		default: true,
		description:
			'Whether to read each call from the service and pass on that record. If off, anyone who knows the URL can start the workflow with forged results, because the documentation of the service shows no signature.',
		displayOptions: { show: { getCalls: ['webhook'] } },
	},
	{ ...include, displayOptions: { show: { getCalls: ['webhook'], verify: [true] } } },
	shownForReading(include),
	filters,
	options,
	// n8n looks for this under the name "options": see UNREAD_BODY.
	{ displayName: 'Options', name: 'options', type: 'hidden', default: UNREAD_BODY },
];
