import type { INodeProperties } from 'n8n-workflow';
import type { Fields } from '../../host/forms/fields';
import { type CallLimit, MAX_CALLS, PERIODS } from '../../core/calls/callsPerPerson';

const NO_LIMIT = 'none';

const limitPer: INodeProperties = {
	displayName: 'Limit Calls per Person',
	name: 'callLimit',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'No Limit', value: NO_LIMIT },
		{ name: 'Per Day', value: 'day' },
		{ name: 'Per Week', value: 'week' },
		{ name: 'Per Month', value: 'month' },
	],
	default: NO_LIMIT,
	description:
		"How often this workflow may call the same number, over all its executions, in any format. Calendar periods in the time zone of this workflow, with weeks that start on Monday. A person over the limit isn't called, and the item is returned with placed set to false. Also set it if a tool that starts this workflow can bring the same person twice. The node remembers a call before placing it, and forgets it if it was certainly not placed.",
};

const maximumCalls: INodeProperties = {
	displayName: 'Maximum Calls',
	name: 'maximumCalls',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MAX_CALLS, numberPrecision: 0 },
	default: 1,
	description: `How many calls to place to the same number in each period, from 1 to ${MAX_CALLS}. A scheduled call counts in the period for which it's scheduled. If you change the period, the count starts from zero.`,
	displayOptions: { hide: { [limitPer.name]: [NO_LIMIT] } },
};

export const callLimit = [limitPer, maximumCalls];

/** @throws InvalidInput if the number of calls is invalid */
export function readCallLimit(form: Fields): CallLimit | undefined {
	const chosen = form.choice(limitPer.name, NO_LIMIT);
	const period = PERIODS.find((one) => one === chosen);
	if (period === undefined) return undefined;
	return { calls: form.wholeNumber(maximumCalls.name) ?? 1, period };
}
