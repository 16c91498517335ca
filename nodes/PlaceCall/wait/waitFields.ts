import type { INodeProperties } from 'n8n-workflow';
import { OBSERVED_OUTCOMES } from '../../shared/calls/completion';

const waiting = { waitForCompletion: ['webhook', 'reading'] };

/** What the person sees of waiting. */
export const waitFields: INodeProperties[] = [
	{
		displayName: 'Wait for Completion',
		name: 'waitForCompletion',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Off', value: 'off', description: 'Go on as soon as the calls are placed' },
			{
				name: 'By Completion Webhook',
				value: 'webhook',
				description:
					'The service reports each call, and the execution sleeps until all are over. The agent needs post-call analysis.',
			},
			{
				name: 'By Reading the Call',
				value: 'reading',
				description: 'The calls are read again and again until all are over',
			},
		],
		default: 'off',
		description: 'Whether to go on only when the calls are over, with their results',
	},
	{
		displayName:
			'The service has to reach this n8n from outside, and n8n has to reach its own address. While it sleeps, the execution survives a restart.',
		name: 'webhookWaitNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { waitForCompletion: ['webhook'] } },
	},
	{
		displayName:
			'The execution stays in memory while it waits, and ends with n8n when n8n is restarted. For long waits use the completion webhook.',
		name: 'readingWaitNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { waitForCompletion: ['reading'] } },
	},
	{
		displayName: 'Time Limit',
		name: 'waitLimit',
		type: 'number',
		noDataExpression: true,
		typeOptions: { minValue: 1 },
		default: 2,
		description:
			'How long to wait, from the moment at which the last call is due. Calls that are still open then come out with timed_out set to true.',
		displayOptions: { show: waiting },
	},
	{
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
		displayOptions: { show: waiting },
	},
	{
		displayName: 'Finished Statuses',
		name: 'finishedStatuses',
		type: 'string',
		noDataExpression: true,
		default: OBSERVED_OUTCOMES.join(', '),
		description:
			'A call that is read with one of these is over; one that was picked, as soon as its record also says why it ended or holds a summary or an analysis. Seen so far are picked, not_picked and failed; add what your account shows besides, and take out what it shows while a call is still going on.',
		displayOptions: { show: waiting },
	},
];
