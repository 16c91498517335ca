import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { readFinishedStatuses } from '../../host/forms/callTriggerFields';
import { readOptOutKey } from '../../host/forms/optOutFields';
import type { StatusKeys } from '../../core/calls/callEnd';
import type { Fields } from '../../host/forms/fields';

const WAYS = [
	{
		name: 'By Completion Webhook',
		value: 'webhook',
		description:
			'The service reports each call to n8n, also after a restart. The agent needs post-call analysis.',
	},
	{
		name: 'By Reading the Call',
		value: 'reading',
		description:
			'The node reads the calls until all are completed. If n8n restarts, the execution is lost.',
	},
];

const WEBHOOK_NEEDS =
	'By completion webhook, both the service and n8n must be able to reach the webhook URL of this n8n. As a tool, the node reads the calls instead, until the time limit of tools';

const how: INodeProperties = {
	displayName: 'Wait for Completion',
	name: 'waitForCompletion',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: "Don't Wait",
			value: 'no',
			description:
				'Continue as soon as the calls are placed. Use Call Completed Trigger or Get Call for the results.',
		},
		...WAYS,
	],
	default: 'no',
	description: `Whether to continue immediately, or with the results of the completed calls. ${WEBHOOK_NEEDS}.`,
};

const DEFAULT_MINUTES = 120;

const timeLimit: INodeProperties = {
	displayName: 'Time Limit (Minutes)',
	name: 'waitMinutes',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 1 },
	default: DEFAULT_MINUTES,
	description:
		"How long to wait after the last call is due. Calls that aren't completed by then are returned with timed_out set to true.",
};

/** *Wait for Completion* of *Place*, with its time limit. */
export const waitFields: INodeProperties[] = [
	how,
	{ ...timeLimit, displayOptions: { show: { waitForCompletion: WAYS.map(({ value }) => value) } } },
];

/** *Ask and Wait* always waits, so these are options. */
export const waitOptions: INodeProperties[] = [
	{
		...how,
		options: WAYS,
		default: 'webhook',
		description: `How the node detects that the call is completed, by completion webhook by default. ${WEBHOOK_NEEDS}.`,
	},
	timeLimit,
];

export type WaitOption = {
	/** `webhook` or `reading`. `undefined` if nothing is chosen. */
	how: string | undefined;
	limitMs: number;
	/** The statuses of completed calls. */
	finished: StatusKeys;
	optOutKey: string;
};

/** @throws InvalidInput if the time limit isn't more than 0 */
export function readWaitOption(form: Fields): WaitOption {
	const options = form.collection('options');
	const fields = form.has(how.name) ? form : options;
	const chosen = fields.choice(how.name, 'no');
	const minutes = fields.number(timeLimit.name, DEFAULT_MINUTES);
	if (!(minutes > 0)) {
		throw new InvalidInput(
			`'Time Limit (Minutes)' must be more than 0 (got ${minutes})`,
			onScreenOnly('Enter a number above 0.'),
		);
	}
	return {
		how: chosen === 'no' ? undefined : chosen,
		limitMs: minutes * 60_000,
		finished: readFinishedStatuses(options),
		optOutKey: readOptOutKey(options),
	};
}
