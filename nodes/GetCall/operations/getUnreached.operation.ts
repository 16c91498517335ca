import pick from 'lodash/pick';
import sortBy from 'lodash/sortBy';
import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { PICKED, statusKey } from '../../core/calls/callEnd';
import { callList } from '../../core/calls/callList';
import { outcomeOf } from '../../core/calls/callRecord';
import { looseKeyOf, phoneKey } from '../../core/phone/callPhone';
import { InvalidInput, type OutcomeUnknown, unusable } from '../../core/service/errors';
import { READS_AT_ONCE } from '../../core/service/limits';
import { readPages } from '../../core/service/paging';
import { hasOffset, parseTime } from '../../core/values/dates';
import { type JsonObject, numberIn } from '../../core/values/json';
import { forEachWithPauses } from '../../core/values/pauses';
import { isUnset, parseList, plainText, quoted } from '../../core/values/values';
import { clock } from '../../host/clock';
import type { Fields } from '../../host/forms/fields';
import { readAdditions, readConcurrency } from '../../host/forms/options';
import { statusField, statusKeysMeant, UNREACHED } from '../../host/forms/statusField';
import { forEachList, type ListPlan } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { callOptions } from '../callFields';
import { filtersField } from '../callFilters';

type Bounds = [minValue: number, maxValue: number];

const number = (field: Omit<INodeProperties, 'type'>, [minValue, maxValue]: Bounds) => ({
	...field,
	type: 'number' as const,
	typeOptions: { minValue, maxValue, numberPrecision: 0 },
});

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
	number(
		{
			displayName: 'Period (Days)',
			name: 'periodDays',
			default: 30,
			description:
				"How many days back to read calls. Earlier ones don't count. 'Service Profile' of the credential needs the place {from}.",
		},
		[1, 3_650],
	),
	number(
		{
			displayName: 'Maximum Attempts',
			name: 'maximumAttempts',
			default: 3,
			description:
				"People with this many calls in the period aren't returned. The service's own retries are attempts, too.",
		},
		[1, 100],
	),
	number(
		{
			displayName: 'Hours Between Calls',
			name: 'hoursBetween',
			default: 20,
			description: "People whose latest call began more recently aren't returned yet",
		},
		[0, 8_760],
	),
	{
		...filtersField,
		options: (filtersField.options ?? []).filter(({ name }) => FILTERS.some((one) => one === name)),
	},
	callOptions(
		number(
			{
				displayName: 'Goal (People Reached)',
				name: 'goal',
				default: 50,
				description:
					'How many people to reach in the period. Only as many are returned as are missing. Any call with another status counts as reached.',
			},
			[1, 1_000_000],
		),
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
			const rules = readRules(form);
			const from = now.minus({ days: form.wholeNumber('periodDays') ?? 0 });
			const given = form.collection('filters');
			const chosen = Object.fromEntries(FILTERS.map((name) => [name, given.text(name)]));
			const filters = { ...chosen, from };
			const additions = readAdditions(form.collection('options'));
			const compact = (call: JsonObject) => pick(call, USED_FIELDS);
			return {
				key: { filters, additions, ...rules },
				read: async (limiter) => {
					if (rules.statuses.includes(PICKED)) result.addHints(ANSWERED_HINT);
					const request = { filters, additions, limit: Infinity, zone, limiter, compact };
					const calls = await readPages(callList(service, request), Infinity);
					const people = await callsByPerson(calls, from.toMillis());
					return toCallAgain(people, rules, now);
				},
			};
		};
		return await forEachList(run, plan, readConcurrency(parameters, READS_AT_ONCE));
	},
};

/** Without a goal, everybody is called again. */
type Rules = { statuses: string[]; attempts: number; hours: number; goal: number | undefined };

function readRules(form: Fields): Rules {
	const statuses = parseList(form.textOrList('statuses')).flatMap(statusKeysMeant);
	if (statuses.length === 0)
		throw new InvalidInput("'Statuses' is empty", 'Choose who is called again.');
	return {
		statuses,
		attempts: form.wholeNumber('maximumAttempts') ?? 0,
		hours: form.wholeNumber('hoursBetween') ?? 0,
		goal: form.collection('options').wholeNumber('goal'),
	};
}

/** What decides about a person, and what is returned. The rest of a long list would fill the memory. */
const USED_FIELDS = [
	...['call_id', 'created_at', 'phone_number', 'status', 'retry_count', 'caller_name'],
];

/** The calls of a person, and when each was created, in epoch milliseconds. */
type Person = { key: string; calls: Array<{ at: number; call: JsonObject }> };

/**
 * Calls without a number are left out.
 *
 * @param since in epoch milliseconds. Calls before don't count: the service may not know the filter.
 * @throws OutcomeUnknown if it isn't certain whose call it is, or when it was
 */
export async function callsByPerson(
	calls: readonly JsonObject[],
	since: number,
): Promise<Person[]> {
	const people = new Map<string, Person>();
	await forEachWithPauses(calls, (call) => {
		const { phone_number: phone, created_at: created = null } = call;
		if (!/\d/.test(plainText(phone))) return;
		const at = hasOffset(plainText(created)) ? parseTime(created, 'utc').toMillis() : NaN;
		if (Number.isNaN(at))
			throw notCertain(`${quoted(created)} in created_at isn't a time with an offset`);
		if (at < since) return;
		const key = phoneKey(phone);
		// It may be one of the others.
		if (key === null)
			throw notCertain(`${quoted(phone)} in phone_number isn't an international number`);
		const known = people.get(looseKeyOf(key));
		if (known === undefined) people.set(looseKeyOf(key), { key, calls: [{ at, call }] });
		else known.calls.push({ at, call });
	});
	return [...people.values()];
}

/** Those who wait longest come first, so that a goal doesn't always leave out the same people. */
function toCallAgain(
	people: readonly Person[],
	{ statuses, attempts, hours, goal }: Rules,
	now: DateTime,
): JsonObject[] {
	const isMissed = ({ call }: Person['calls'][number]) =>
		statuses.includes(statusKey(plainText(call.status)));
	const until = now.minus({ hours }).toMillis();
	const found = people.flatMap(({ key, calls }) => {
		// The newest first.
		const sorted = sortBy(calls, ({ at }) => -at);
		const [latest] = sorted;
		const redials = calls.map(({ call }) => (numberIn(call.retry_count) ?? 0) + 1);
		const count = Math.max(calls.length, ...redials);
		if (latest === undefined || latest.at > until || count >= attempts) return [];
		// Several may have begun at the same time.
		if (!sorted.every((one) => one.at < latest.at || isMissed(one))) return [];
		const named = sorted.find(({ call }) => !isUnset(call.caller_name));
		const person = {
			// Columns that Push Campaign Contacts finds.
			...{ person_name: named?.call.caller_name ?? '', phone: `+${key}`, attempts: count },
			last_outcome: outcomeOf(latest.call),
			last_call_at: latest.call.created_at ?? null,
			last_call_id: latest.call.call_id ?? null,
			phone_key: key,
		};
		return [{ at: latest.at, person }];
	});
	const reached = people.filter(({ calls }) => !calls.every(isMissed)).length;
	const missing = goal === undefined ? Infinity : Math.max(0, goal - reached);
	return sortBy(found, 'at')
		.slice(0, missing)
		.map(({ person }) => person);
}

function notCertain(reason: string): OutcomeUnknown {
	return unusable(
		`The latest call of each number isn't certain, because ${reason}`,
		"Find out with 'Get Many' who was reached before you call anybody again.",
		{ origin: 'response' },
	);
}
