import type { INodeProperties } from 'n8n-workflow';
import type { Fields } from '../../shared/n8n/forms/fields';
import { type CallLimit, MAX_CALLS, PERIODS } from '../../shared/calls/callsPerPerson';
import { wholeNumber } from './callSettings';

export const callLimit: INodeProperties = {
	displayName: 'Limit Calls per Person',
	name: 'callLimit',
	type: 'fixedCollection',
	// Without both, n8n adds the option empty, and removes it again when another one is added.
	typeOptions: { multipleValues: false },
	default: { limit: {} },
	placeholder: 'Add Limit',
	description:
		"How often this workflow may call the same number, over all its executions. A person over the limit isn't called, and the item is returned with placed set to false. The format of a number doesn't matter. Also add it if a loop or a tool that starts this workflow can bring the same person twice. The node remembers a call before placing it, and forgets it if it was certainly not placed.",
	options: [
		{
			displayName: 'Limit',
			name: 'limit',
			values: [
				{
					displayName: 'Maximum Calls',
					name: 'maximumCalls',
					type: 'number',
					typeOptions: { minValue: 1, maxValue: MAX_CALLS, numberPrecision: 0 },
					default: 1,
					description: `How many calls to place to the same number in each period, from 1 to ${MAX_CALLS}`,
				},
				{
					displayName: 'Per',
					name: 'period',
					type: 'options',
					options: [
						{ name: 'Day', value: 'day' },
						{ name: 'Month', value: 'month' },
						{ name: 'Week', value: 'week' },
					],
					default: 'day',
					description:
						"The calendar period in which these calls count, in the time zone of this workflow. A week starts on Monday. A scheduled call counts in the period in which it's placed. If you change the period, the count starts from zero.",
				},
			],
		},
	],
};

/** @throws InvalidInput if the number of calls is invalid */
export function readCallLimit(options: Fields): CallLimit | undefined {
	const limit = options.group(callLimit.name);
	if (limit === undefined) return undefined;
	const label = "'Maximum Calls' in 'Limit Calls per Person'";
	const bounds = { min: 1, max: MAX_CALLS };
	const calls = wholeNumber(label, bounds, limit.number('maximumCalls', 1));
	const chosen = limit.choice('period', 'day');
	const period = PERIODS.find((one) => one === chosen);
	return period && { calls, period };
}
