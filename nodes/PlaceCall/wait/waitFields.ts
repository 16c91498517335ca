import type { INodeProperties } from 'n8n-workflow';
import { OBSERVED_OUTCOMES } from '../../shared/calls/callEnd';

/** The option 'Wait for Completion' with all its settings. */
export const waitField: INodeProperties = {
	displayName: 'Wait for Completion',
	name: 'wait',
	type: 'fixedCollection',
	placeholder: 'Add Wait',
	default: {},
	description: 'Waits until the calls are completed, and returns their results',
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
					options: [
						{
							name: 'By Completion Webhook',
							value: 'webhook',
							description:
								'The service sends the result of each call to n8n. The execution waits until all calls are completed, even if n8n restarts. The agent needs post-call analysis, and both the service and n8n must be able to reach the webhook URL of this n8n.',
						},
						{
							name: 'By Reading the Call',
							value: 'reading',
							description:
								'The node reads the calls repeatedly until all are completed. The execution stays in memory and is lost if n8n restarts.',
						},
					],
					default: 'webhook',
					description: 'How the node detects that the calls are completed',
				},
				{
					displayName: 'Time Limit',
					name: 'waitLimit',
					type: 'number',
					noDataExpression: true,
					typeOptions: { minValue: 1 },
					default: 2,
					description:
						'How long to wait after the last call is due. Calls that are not completed by then are returned with timed_out set to true.',
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
				},
				{
					displayName: 'Finished Statuses',
					name: 'finishedStatuses',
					type: 'string',
					noDataExpression: true,
					default: OBSERVED_OUTCOMES.join(', '),
					description:
						'Statuses of completed calls, separated by commas. A call with the status picked is completed when its record also has an end reason, a summary, or an analysis. Known statuses are picked, not_picked, and failed. Add any others that your account uses, and remove those that it shows during a call.',
				},
			],
		},
	],
};
