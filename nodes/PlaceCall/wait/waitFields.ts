import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { OBSERVED_OUTCOMES } from '../../shared/calls/completion';

export const WAYS_OF_WAITING: INodePropertyOptions[] = [
	{
		name: 'By Completion Webhook',
		value: 'webhook',
		description:
			'The service reports each call, and the execution sleeps until all are over, also through a restart of n8n. The agent needs post-call analysis, the service has to reach this n8n from outside, and n8n its own address.',
	},
	{
		name: 'By Reading the Call',
		value: 'reading',
		description:
			'The calls are read again and again until all are over. The execution stays in memory and ends with n8n when n8n is restarted.',
	},
];

export const waitLimitField: INodeProperties = {
	displayName: 'Time Limit',
	name: 'waitLimit',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 1 },
	default: 2,
	description:
		'How long to wait, from the moment at which the last call is due. Calls that are still open then come out with timed_out set to true.',
};

export const waitLimitUnitField: INodeProperties = {
	displayName: 'Unit',
	name: 'waitLimitUnit',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Seconds', value: 'seconds' },
		{ name: 'Minutes', value: 'minutes' },
		{ name: 'Hours', value: 'hours' },
		{ name: 'Days', value: 'days' },
	],
	default: 'hours',
	description: 'The unit of the time limit',
};

export const finishedStatusesField: INodeProperties = {
	displayName: 'Finished Statuses',
	name: 'finishedStatuses',
	type: 'string',
	noDataExpression: true,
	default: OBSERVED_OUTCOMES.join(', '),
	description:
		'A call that is read with one of these is over; one that was picked, as soon as its record also says why it ended or holds a summary or an analysis. Seen so far are picked, not_picked and failed; add what your account shows besides, and take out what it shows while a call is still going on.',
};

/** The wait among the options: everything that it needs stands together. */
export const waitField: INodeProperties = {
	displayName: 'Wait for Completion',
	name: 'wait',
	type: 'fixedCollection',
	placeholder: 'Add Wait',
	default: {},
	description: 'To go on only when the calls are over, with their results',
	options: [
		{
			displayName: 'Wait',
			name: 'settings',
			values: [
				{
					displayName: 'How',
					name: 'waitForCompletion',
					type: 'options',
					noDataExpression: true,
					options: WAYS_OF_WAITING,
					default: 'webhook',
					description: 'How it is found out that the calls are over',
				},
				waitLimitField,
				waitLimitUnitField,
				finishedStatusesField,
			],
		},
	],
};
