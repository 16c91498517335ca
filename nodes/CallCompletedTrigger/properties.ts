import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/forms/agentField';
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
			default: false,
			description:
				'Whether a call that was received before starts the workflow again. If off, each outcome of a call starts it once, for as long as n8n keeps the execution.',
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
		},
	],
};

/** The form, from top to bottom. */
export const completionFields: INodeProperties[] = [
	{
		displayName:
			'Copy the Production URL above to the option <b>Webhook URL</b> of Place Call. The agent needs post-call analysis.',
		name: 'webhookUrlNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Verify Call',
		name: 'verify',
		type: 'boolean',
		default: true,
		description:
			'Whether to read each call from the service and pass on that record. If off, anyone who knows the URL can start the workflow with made-up results, because the documentation of the service shows no signature.',
	},
	{
		displayName: 'Include',
		name: 'include',
		type: 'multiOptions',
		options: [
			{ name: 'Recording', value: 'recording' },
			{ name: 'Transcript', value: 'transcript' },
		],
		default: [],
		description:
			'What else to read for the call. The link to a recording is valid for 15 minutes. It is null if the call has no recording.',
		displayOptions: { show: { verify: [true] } },
	},
	filters,
	options,
	// n8n looks for this under the name "options": see UNREAD_BODY.
	{ displayName: 'Options', name: 'options', type: 'hidden', default: UNREAD_BODY },
];
