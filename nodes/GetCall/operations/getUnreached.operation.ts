import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { callList } from '../../core/calls/callList';
import { InvalidInput } from '../../core/service/errors';
import { READS_AT_ONCE } from '../../core/service/limits';
import { readPages } from '../../core/service/paging';
import { parseCount, parseWholeNumber } from '../../core/service/parseIds';
import type { JsonObject } from '../../core/values/json';
import { parseList } from '../../core/values/values';
import { clock } from '../../host/clock';
import { readAdditions, readConcurrency } from '../../host/forms/options';
import { statusField, statusKeysMeant } from '../../host/forms/statusField';
import { forEachList, type ListPlan } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { callOptions } from '../callFields';
import { filtersField } from '../callFilters';
import { callsByNumber, toCallAgain, USED_FIELDS } from '../latestCalls';

const number = (
	field: Pick<INodeProperties, 'displayName' | 'name' | 'description' | 'default'>,
	minValue = 1,
): INodeProperties => ({
	...field,
	type: 'number',
	typeOptions: { minValue, numberPrecision: 0 },
});

const WHOLE_NUMBER = 'Enter a whole number.';

const FILTERS = ['agentUuid', 'campaignId', 'campaignUploadId'] as const;

const fields: INodeProperties[] = [
	{
		...statusField(
			{
				displayName: 'Statuses',
				name: 'statuses',
				description:
					"The statuses of calls in which nobody was reached. People whose latest call has another status aren't returned. Type one that isn't in the list, or several, separated by commas.",
			},
			'searchStatuses',
		),
		required: true,
	},
	number({
		displayName: 'Period (Days)',
		name: 'periodDays',
		default: 30,
		description:
			"How many days back to read calls. 'Service Profile' of the credential needs a place for it, {from}. Earlier calls don't count.",
	}),
	number({
		displayName: 'Maximum Attempts',
		name: 'maximumAttempts',
		default: 3,
		description:
			"People with this many calls in the period aren't returned. Retries that the list counts in a call are attempts, too.",
	}),
	number(
		{
			displayName: 'Hours Between Calls',
			name: 'hoursBetween',
			default: 20,
			description: "People whose latest call began more recently aren't returned yet",
		},
		0,
	),
	{
		...filtersField,
		options: (filtersField.options ?? []).filter(({ name }) => FILTERS.some((one) => one === name)),
	},
	callOptions(
		number({
			displayName: 'Goal (People Reached)',
			name: 'goal',
			default: 50,
			description:
				"How many people to reach in the period. At most as many people are returned as are missing, and nobody after that. Everybody counts who had a call with a status that isn't in 'Statuses', also one in progress.",
		}),
	),
];

export const getUnreached: Operation = {
	value: 'getUnreached',
	name: 'Get Unreached',
	action: 'Get unreached people',
	description: "Retrieve the people who weren't reached in their latest call, to call them again",
	subtitle: 'get unreached people',
	fields,
	isReadOnly: true,
	toolDescription:
		'Lists the people who were not reached in their latest phone call, with the number of attempts and when they were last called. Places no calls and changes nothing.',

	async execute(run) {
		const { context, parameters, account } = run;
		const zone = context.getTimezone();
		const now = DateTime.fromMillis(clock.now(), { zone });
		const plan = async (index: number): Promise<ListPlan> => {
			const service = await account();
			const form = parameters.at(index);
			const options = form.collection('options');
			const count = (label: string, name: string, from = form) =>
				parseCount(from.number(name, undefined), label, WHOLE_NUMBER);
			const statuses = parseList(form.textOrList('statuses')).flatMap(statusKeysMeant);
			if (statuses.length === 0)
				throw new InvalidInput("'Statuses' is empty", 'Choose who is called again.');
			const hours = form.number('hoursBetween', undefined);
			const rules = {
				statuses,
				attempts: count('Maximum Attempts', 'maximumAttempts'),
				hours: parseWholeNumber(hours, 'Hours Between Calls', WHOLE_NUMBER),
				goal: options.has('goal') ? count('Goal (People Reached)', 'goal', options) : Infinity,
			};
			const given = form.collection('filters');
			const from = now.minus({ days: count('Period (Days)', 'periodDays') });
			const filters = {
				...Object.fromEntries(FILTERS.map((name) => [name, given.text(name)])),
				from,
			};
			const additions = readAdditions(options);
			return {
				key: { filters, additions, ...rules, goal: String(rules.goal) },
				read: async (limiter) => {
					const compact = (call: JsonObject) => pick(call, USED_FIELDS);
					const request = { filters, additions, limit: Infinity, zone, limiter, compact };
					const list = callList(service, request);
					const calls = await readPages(list, Infinity);
					const everybody = await callsByNumber(calls, from.toMillis());
					return toCallAgain(everybody, rules, now.toMillis());
				},
			};
		};
		return await forEachList(run, plan, readConcurrency(parameters, READS_AT_ONCE));
	},
};
