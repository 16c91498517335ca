import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';
import { agentField } from '../shared/n8n/agentField';
import { OBSERVED_OUTCOMES } from '../shared/calls/completion';
import { UNREAD_BODY } from '../shared/n8n/webhookAnswer';

const filters: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description: 'Which calls start the workflow. Without a filter every call does.',
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
				'Only calls that ended with one of these, separated by commas. Seen so far are picked, not_picked and failed; the service may have more.',
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
			displayName: 'Answer the Service',
			name: 'answer',
			type: 'options',
			options: [
				{
					name: 'When the Call Is Verified',
					value: 'verified',
					description:
						'A forged message is turned down, and the service is asked to come again while the call cannot be read',
				},
				{
					name: 'At Once',
					value: 'atOnce',
					description:
						'Before the call is verified, for a service that does not wait. What is forged still starts nothing.',
				},
			],
			default: 'verified',
			description: 'When the service gets its answer',
		},
		{
			displayName: 'Finished Statuses',
			name: 'finishedStatuses',
			type: 'string',
			default: OBSERVED_OUTCOMES.join(', '),
			description:
				'A call that is read with one of these is over; one that was picked, as soon as its record also says why it ended or holds a summary or an analysis. A call that shows no end is not passed on. Seen so far are picked, not_picked and failed; add what your account shows besides.',
		},
		{
			displayName: 'Let Repeats Through',
			name: 'repeats',
			type: 'boolean',
			default: false,
			description:
				'Whether a call that was reported before starts the workflow again. When off, each outcome of a call starts it once, for as long as n8n keeps the execution.',
		},
	],
};

/** What the person sees, from top to bottom. */
export const completionFields: INodeProperties[] = [
	{
		displayName:
			'Put the Production URL above into <b>Webhook URL</b> among the options of Place Call. The agent needs post-call analysis.',
		name: 'addressNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Verify Call',
		name: 'verify',
		type: 'boolean',
		default: true,
		description:
			'Whether to read each call back from the service and pass on that record. The service signs nothing, so when this is off, whoever knows the address can start the workflow with made-up results.',
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
			'What else to read of the call. The link of a recording is valid for 15 minutes; a call without a recording has null there.',
		displayOptions: { show: { verify: [true] } },
	},
	filters,
	options,
	// n8n looks for this under the name "options": see UNREAD_BODY.
	{ displayName: 'Options', name: 'options', type: 'hidden', default: UNREAD_BODY },
];
