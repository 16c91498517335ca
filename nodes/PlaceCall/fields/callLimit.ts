import type { INodeProperties } from 'n8n-workflow';
import { onScreenOnly } from '../../shared/api/resolution';
import { type Checked, problem } from '../../shared/values';
import type { CallField } from './callDraft';

const MAX_CALLS = 10;
const MIN_DAYS = 0.1;
const MAX_DAYS = 90;
const DAY_MS = 24 * 3_600_000;

const limitProperty: INodeProperties = {
	displayName: 'Limit Calls per Person',
	name: 'callLimit',
	type: 'fixedCollection',
	// Without both, n8n adds the option empty, and removes it again when another one is added.
	typeOptions: { multipleValues: false },
	default: { limit: {} },
	placeholder: 'Add Limit',
	description:
		"How often this node may call the same number, over all executions of this workflow. A person over the limit isn't called, and the item is returned with placed set to false. The format of a number doesn't matter. The node remembers a call before placing it, and forgets it if it was certainly not placed.",
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
					description: `How many calls to place to the same number in these days, from 1 to ${MAX_CALLS}`,
				},
				{
					displayName: 'Days',
					name: 'days',
					type: 'number',
					typeOptions: { minValue: MIN_DAYS, maxValue: MAX_DAYS, numberPrecision: 1 },
					default: 1,
					description: `The number of days in which these calls count, from ${MIN_DAYS} to ${MAX_DAYS}. A day has 24 hours from each call. If the workflow calls the same people at the same time every day, enter 0.9, because a call can be some minutes earlier than the day before.`,
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
		const days = draft.take(daysIn(limit.number('days', 1)));
		if (calls === undefined || days === undefined) return;
		draft.limit = { calls, periodMs: Math.round(days * DAY_MS) };
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

function daysIn(value: number): Checked<number> {
	if (value >= MIN_DAYS && value <= MAX_DAYS) return { value };
	return problem(
		`'Days' in 'Limit Calls per Person' must be a number from ${MIN_DAYS} to ${MAX_DAYS} (got ${value})`,
		onScreenOnly(`Enter a number from ${MIN_DAYS} to ${MAX_DAYS}.`),
	);
}
