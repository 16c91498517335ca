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
		'How often this workflow may call the same number, over all its executions. Periods begin at midnight in its time zone, weeks on Monday.',
};

const maximumCalls: INodeProperties = {
	displayName: 'Maximum Calls',
	name: 'maximumCalls',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MAX_CALLS, numberPrecision: 0 },
	default: 1,
	description: `How many calls to place to the same number in each period, from 1 to ${MAX_CALLS}. A scheduled call counts when it's due.`,
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
