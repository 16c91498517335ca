import upperFirst from 'lodash/upperFirst';
import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/resolution';
import {
	finishedStatusesField,
	readFinishedStatuses,
} from '../../shared/n8n/forms/callTriggerFields';
import type { Fields } from '../../shared/n8n/forms/fields';

const WAYS = [
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
];

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
	description: 'Whether to continue immediately, or with the results of the completed calls',
};

const UNITS_MS = new Map([
	['seconds', 1_000],
	['minutes', 60_000],
	['hours', 3_600_000],
	['days', 86_400_000],
]);
const DEFAULT_LIMIT = 2;
const DEFAULT_UNIT = 'hours';

const timeLimit: INodeProperties[] = [
	{
		displayName: 'Time Limit',
		name: 'waitLimit',
		type: 'number',
		noDataExpression: true,
		typeOptions: { minValue: 1 },
		default: DEFAULT_LIMIT,
		description:
			"How long to wait after the last call is due. Calls that aren't completed by then are returned with timed_out set to true.",
	},
	{
		displayName: 'Unit',
		name: 'waitLimitUnit',
		type: 'options',
		noDataExpression: true,
		options: [...UNITS_MS.keys()].map((value) => ({ name: upperFirst(value), value })),
		default: DEFAULT_UNIT,
		description: 'The unit of the time limit',
	},
];

const otherStartsNotice: INodeProperties = {
	displayName:
		"While the execution waits, another start of this workflow calls the same people. To prevent this, mark their rows before this node, and set 'On Error' to continue, so that a bad row leaves no others marked but not called. Or add <b>Limit Calls per Person</b> in Options.",
	name: 'otherStartsNotice',
	type: 'notice',
	default: '',
	displayOptions: {
		show: { waitForCompletion: WAYS.map(({ value }) => value) },
		hide: { '@tool': [true] },
	},
};

/** *Wait for Completion* of *Place*, with its time limit. */
export const waitFields: INodeProperties[] = [
	how,
	otherStartsNotice,
	...timeLimit.map((field) => ({
		...field,
		displayOptions: { show: { waitForCompletion: WAYS.map(({ value }) => value) } },
	})),
];

/** *Ask and Wait* always waits, so this is an option. */
export const waitOption: INodeProperties = {
	displayName: 'Wait for Completion',
	name: 'wait',
	type: 'fixedCollection',
	// Without both, n8n adds the option empty, and removes it again when another one is added.
	typeOptions: { multipleValues: false },
	default: { settings: {} },
	placeholder: 'Add Wait',
	description:
		'How to wait for the answer, and how long. Without this option, the execution waits until the call is completed, for up to 2 hours. As a tool, the node reads the call repeatedly instead, until the time limit of tools.',
	options: [
		{
			displayName: 'Wait',
			name: 'settings',
			values: [
				{
					...how,
					displayName: 'How',
					options: WAYS,
					default: 'webhook',
					description: 'How the node detects that the calls are completed',
				},
				...timeLimit,
			],
		},
	],
};

/** An option of both operations. */
export const finishedStatuses: INodeProperties = {
	...finishedStatusesField,
	noDataExpression: true,
	description:
		'Statuses of completed calls to wait for, separated by commas. A call with the status picked is completed when its record also has an end reason, a summary, or an analysis. Known statuses are picked, not_picked, and failed. Add any others that your account uses, and remove those that it shows during a call.',
};

export type WaitOption = {
	/** `webhook` or `reading`. `undefined` if nothing is chosen. */
	how: string | undefined;
	limitMs: number;
	/** The statuses of completed calls. */
	finished: string[];
};

/** @throws InvalidInput if the option is empty, or its time limit isn't more than 0 */
export function readWaitOption(form: Fields): WaitOption {
	const options = form.collection('options');
	const settings = form.has(how.name) ? form : options.group(waitOption.name);
	const chosen = settings?.choice(how.name, 'webhook');
	const amount = settings?.number('waitLimit', undefined) ?? DEFAULT_LIMIT;
	const unit = settings?.choice('waitLimitUnit', undefined) ?? DEFAULT_UNIT;
	const limitMs = amount * (UNITS_MS.get(unit) ?? NaN);
	if (!(limitMs > 0)) {
		throw new InvalidInput(
			"'Time Limit' must be more than 0, so no call was placed",
			onScreenOnly('Enter a number above 0, and choose its unit.'),
		);
	}
	return {
		how: chosen === 'no' ? undefined : chosen,
		limitMs,
		finished: readFinishedStatuses(options),
	};
}
