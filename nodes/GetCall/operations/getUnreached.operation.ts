import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { PICKED } from '../../core/calls/callEnd';
import { callList } from '../../core/calls/callList';
import { InvalidInput } from '../../core/service/errors';
import { READS_AT_ONCE } from '../../core/service/limits';
import { readPages } from '../../core/service/paging';
import { parseCount, parseWholeNumber } from '../../core/service/parseIds';
import type { JsonObject } from '../../core/values/json';
import { parseList } from '../../core/values/values';
import { clock } from '../../host/clock';
import { readAdditions, readConcurrency } from '../../host/forms/options';
import { statusField, statusKeysMeant, UNREACHED } from '../../host/forms/statusField';
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

/** An expression may have it. Nobody would call these people again. */
const ANSWERED_HINT = {
	message: "'Statuses' has Answered (picked), so people who answered are returned, too",
	resolution: 'To call only unreached people again, remove it.',
};

const FILTERS = ['agentUuid', 'campaignId', 'campaignUploadId'] as const;

const fields: INodeProperties[] = [
	{
		...statusField(
			{
				displayName: 'Statuses',
				name: 'statuses',
				description:
					'Who is returned: people whose latest call has one of these statuses. Type others of your service, separated by commas.',
			},
			'searchUnreached',
		),
		default: UNREACHED,
		required: true,
	},
	number({
		displayName: 'Period (Days)',
		name: 'periodDays',
		default: 30,
		description:
			"How many days back to read calls. Earlier ones don't count. 'Service Profile' of the credential needs the place {from}.",
	}),
	number({
		displayName: 'Maximum Attempts',
		name: 'maximumAttempts',
		default: 3,
		description:
			"People with this many calls in the period aren't returned. The service's own retries are attempts, too.",
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
				'How many people to reach in the period. Only as many are returned as are missing. Any call with another status counts as reached.',
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
		const { context, parameters, account, result } = run;
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
					if (statuses.includes(PICKED)) result.addHints(ANSWERED_HINT);
					const everybody = await callsByNumber(calls, from.toMillis());
					return toCallAgain(everybody, rules, now.toMillis());
				},
			};
		};
		return await forEachList(run, plan, readConcurrency(parameters, READS_AT_ONCE));
	},
};
