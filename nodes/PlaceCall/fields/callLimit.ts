import type { INodeProperties } from 'n8n-workflow';
import { onScreenOnly } from '../../shared/api/resolution';
import { type Checked, problem } from '../../shared/values';
import { MAX_CALLS, PERIODS } from '../../shared/calls/callsPerPerson';
import type { CallField } from './callDraft';

const limitProperty: INodeProperties = {
	displayName: 'Limit Calls per Person',
	name: 'callLimit',
	type: 'fixedCollection',
	// Without both, n8n adds the option empty, and removes it again when another one is added.
	typeOptions: { multipleValues: false },
	default: { limit: {} },
	placeholder: 'Add Limit',
	description:
		"How often this workflow may call the same number, over all its executions. A person over the limit isn't called, and the item is returned with placed set to false. The format of a number doesn't matter. The node remembers a call before placing it, and forgets it if it was certainly not placed.",
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
						"The calendar period in which these calls count, in the workflow's time zone. A week starts on Monday. A scheduled call counts in the period in which it's placed. If you change the period, the count starts from zero.",
				},
			],
		},
	],
};

export const callLimit: CallField = {
	properties: [limitProperty],
	addTo(draft, options) {
		if (!options.has(limitProperty.name)) return;
		const limit = options.group(limitProperty.name);
		if (limit === undefined) {
			draft.take(NO_LIMIT);
			return;
		}
		const calls = draft.take(callsIn(limit.number('maximumCalls', 1)));
		const value = limit.choice('period', 'day');
		const period = PERIODS.find((one) => one === value);
		if (calls !== undefined && period !== undefined) draft.limit = { calls, period };
	},
};

const NO_LIMIT = problem(
	"'Limit Calls per Person' is empty",
	onScreenOnly("Add a limit, or remove 'Limit Calls per Person'."),
);

function callsIn(value: number): Checked<number> {
	if (Number.isInteger(value) && value >= 1 && value <= MAX_CALLS) return { value };
	return problem(
		`'Maximum Calls' in 'Limit Calls per Person' must be a whole number from 1 to ${MAX_CALLS} (got ${value})`,
		onScreenOnly(`Enter a whole number from 1 to ${MAX_CALLS}.`),
	);
}
