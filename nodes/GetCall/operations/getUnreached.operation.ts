import compact from 'lodash/compact';
import partition from 'lodash/partition';
import pick from 'lodash/pick';
import sortBy from 'lodash/sortBy';
import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { callList } from '../../core/calls/callList';
import { statusKey } from '../../core/calls/callEnd';
import { outcomeOf } from '../../core/calls/callRecord';
import { InvalidInput } from '../../core/service/errors';
import { READS_AT_ONCE } from '../../core/service/limits';
import { readPages } from '../../core/service/paging';
import { parseCount, parseWholeNumber } from '../../core/service/parseIds';
import { forEveryone, onScreenOnly } from '../../core/service/resolution';
import { dayAndTime, withOffset } from '../../core/values/dates';
import { type JsonObject, numberIn } from '../../core/values/json';
import { isUnset, parseList, plainText, quoted } from '../../core/values/values';
import { clock } from '../../host/clock';
import { optionsCollection, readAdditions, readConcurrency } from '../../host/forms/options';
import { statusField, statusKeysMeant } from '../../host/forms/statusField';
import { forEachList, type ListPlan } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { requestSettings } from '../callFields';
import { type CallsOfNumber, callsByNumber, notCertain } from '../latestCalls';
import { filtersField } from './getMany.operation';

const number = (
	field: Pick<INodeProperties, 'displayName' | 'name' | 'description' | 'default'>,
	minValue = 1,
): INodeProperties => ({
	...field,
	type: 'number',
	typeOptions: { minValue, numberPrecision: 0 },
});

const WHOLE_NUMBER = forEveryone('Enter a whole number.');

const FILTERS = ['agentUuid', 'campaignId', 'campaignUploadId'];

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
		options: (filtersField.options ?? []).filter(({ name }) => FILTERS.includes(name)),
	},
	optionsCollection(
		number({
			displayName: 'Goal (People Reached)',
			name: 'goal',
			default: 50,
			description:
				"How many people to reach in the period. At most as many people are returned as are missing, and nobody after that. Everybody counts who had a call with a status that isn't in 'Statuses', also one in progress.",
		}),
	),
	requestSettings,
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
				throw new InvalidInput(
					"'Statuses' is empty",
					forEveryone('Choose who is called again.', 'Statuses'),
				);
			const hours = form.number('hoursBetween', undefined);
			const rules = {
				statuses,
				attempts: count('Maximum Attempts', 'maximumAttempts'),
				hours: parseWholeNumber(hours, 'Hours Between Calls', WHOLE_NUMBER),
				goal: options.has('goal') ? count('Goal (People Reached)', 'goal', options) : Infinity,
			};
			const given = form.collection('filters');
			const filters = {
				...{ agentUuid: given.text('agentUuid'), campaignId: given.text('campaignId') },
				campaignUploadId: given.text('campaignUploadId'),
				from: now.minus({ days: count('Period (Days)', 'periodDays') }),
			};
			const request = {
				filters,
				limit: Infinity,
				additions: readAdditions(form.collection('developerSettings')),
			};
			return {
				key: { ...request, ...rules, goal: String(rules.goal) },
				read: async (limiter) => {
					const list = callList(service, { ...request, zone, limiter, compact: usedOf });
					const calls = await readPages(list, Infinity);
					const everybody = await callsByNumber(calls, filters.from.toMillis());
					const { people, hints } = toCallAgain(everybody, rules, now);
					result.addHints(...hints);
					return people;
				},
			};
		};
		return await forEachList(run, plan, readConcurrency(parameters, READS_AT_ONCE));
	},
};

type Rules = { statuses: string[]; attempts: number; hours: number; goal: number };

/** Those who wait longest come first, so that a goal doesn't always leave out the same people. */
function toCallAgain(
	everybody: readonly CallsOfNumber[],
	{ statuses, attempts, hours, goal }: Rules,
	now: DateTime,
) {
	const isMissed = ({ status }: JsonObject) => statuses.includes(statusKey(plainText(status)));
	const reached = everybody.filter(({ all }) => !all.every(isMissed)).length;
	const missed = sortBy(everybody, 'createdAt').flatMap((one) => {
		const redials = one.all.map(({ retry_count: retries }) => (numberIn(retries) ?? 0) + 1);
		const calls = Math.max(one.all.length, ...redials);
		if (calls >= attempts || !one.newest.every(isMissed)) return [];
		const [{ created_at = null }] = one.newest;
		if (hours > 0 && Number.isNaN(one.createdAt))
			throw notCertain(`${quoted(created_at)} in created_at isn't a time with an offset`);
		const next = DateTime.fromMillis(one.createdAt, { zone: now.zone }).plus({ hours });
		return [{ next, person: personOf(one, calls, next) }];
	});
	// If any time is possible, the next one may be unknown. After the goal, nobody is called later.
	const [later, due] = partition(missed, ({ next }) => goal > reached && next > now);
	const people = due.slice(0, Math.max(0, goal - reached)).map(({ person }) => person);
	const texts = compact([
		later[0] &&
			`${later.length} more can be called later, the first from ${dayAndTime(later[0].next)}`,
		people.length < due.length &&
			`The goal is ${goal}, and ${reached} were or may be reached, so ${people.length} of ${due.length} are returned`,
	]);
	return { people, hints: texts.map((message) => ({ message, resolution: onScreenOnly('') })) };
}

/** What decides about a person, and what is returned. The rest of a long list would fill the memory. */
function usedOf(call: JsonObject): JsonObject {
	return pick(call, [
		'call_id',
		'created_at',
		'phone_number',
		'status',
		'retry_count',
		'caller_name',
	]);
}

/** With the columns that Push Campaign Contacts finds. */
function personOf({ key, all, newest: [call] }: CallsOfNumber, attempts: number, next: DateTime) {
	return {
		person_name: [call, ...all].find(({ caller_name: name }) => !isUnset(name))?.caller_name ?? '',
		phone: `+${key}`,
		attempts,
		last_outcome: outcomeOf(call).outcome ?? null,
		last_call_at: call.created_at ?? null,
		next_call_possible_at: next.isValid ? withOffset(next) : null,
		last_call_id: call.call_id ?? null,
		phone_key: key,
	};
}
