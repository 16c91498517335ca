import has from 'lodash/has';
import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import uniq from 'lodash/uniq';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import { harness, PACKAGE } from '../../engine';
import { shownIn, withValue } from '../../fuzz/parameters/run';
import { fieldsOf, propertiesOf } from '../../openapi/names';
import { resolved, schemaNamed } from '../../openapi/openapi';
import { fixtures, type Simulator } from '../../simulator';
import { isObject, type JsonObject } from '../../simulator/json';
import { agent, CALL, QUESTION, type ContractCase } from '../contractCase';

const { agents } = fixtures;

/** Calling Hours on a weekday that isn't today and doesn't become today while the case runs. */
function outsideCallingHours() {
	const inThreeDays = Date.now() + 3 * 86_400_000;
	const days = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(
		inThreeDays,
	);
	return {
		...{
			callingHours: 'within',
			callingDays: [days.toLowerCase()],
			callingFrom: '00:00',
			callingUntil: '24:00',
		},
		...{ timeZone: 'UTC', outsideCallingHours: 'notPlaced' },
	};
}

const once = { callLimit: 'day', maximumCalls: 1 };

const WAIT = { options: { waitMinutes: 60 } };

/** Every field of a call request, at any depth. */
const DOCUMENTED_FIELDS = fieldsOf(schemaNamed('CallRequest'));

type Bound = 'min' | 'max';

/** The documented bounds of the numbers of a request, at their places. */
function boundsOf(schema: unknown, bound: Bound): JsonObject {
	const entries = Object.entries(propertiesOf(schema)).flatMap(([name, inner]) => {
		const number = resolved(inner)[`${bound}imum`];
		const value = typeof number === 'number' ? number : boundsOf(inner, bound);
		return isEqual(value, {}) ? [] : [[name, value] as const];
	});
	return Object.fromEntries(entries);
}

/** A value for a field of the form: the example in its placeholder, a bound of a number, or a switch that is on. */
function valueFor(
	{ type, placeholder, typeOptions, default: initial }: INodeProperties,
	bound: Bound,
) {
	if (type === 'number') return typeOptions?.[`${bound}Value`];
	if (type === 'boolean') return true;
	return initial !== '' ? initial : (placeholder?.replace('e.g. ', '') ?? 'Be kind.');
}

/** They add undocumented fields, or decide how the request is sent. */
const NOT_IN_BODY = new Set([
	...['additionalBodyFields', 'additionalQueryParameters', 'concurrency', 'useLegacyEndpoint'],
]);

const withEveryField = (parameters: INodeParameters, bound: Bound): INodeParameters =>
	shownIn(harness, `${PACKAGE}.placeCall`, parameters)
		.filter(({ path, property: { name } }) => !has(parameters, path) && !NOT_IN_BODY.has(name))
		.reduce((all, place) => withValue(all, place, valueFor(place.property, bound)), parameters);

/** The fields of a request, without the keys that the user chooses. */
function fieldsIn({ additional_data: additional, ...body }: JsonObject): string[] {
	const inner = (value: unknown): string[] => {
		// Data points have the same fields.
		if (Array.isArray(value)) return uniq(value.flatMap(inner));
		if (!isObject(value)) return [];
		return Object.entries(value).flatMap(([name, of]) => [name, ...inner(of)]);
	};
	return [...(additional === undefined ? [] : ['additional_data']), ...inner(body)];
}

export const placeCall: ContractCase[] = [
	...(['min', 'max'] as const).map((bound) => ({
		title: `places a call for later, with every field, and the ${bound}imum of each number`,
		parameters: () =>
			withEveryField({ ...CALL, when: 'dateTime', scheduledAt: '2099-11-20T10:00:00' }, bound),
		requests: ['POST /v1/call'],
		verify: ({ requests: [request] }: Simulator) => {
			const body = isObject(request?.body) ? request.body : {};
			expect(fieldsIn(body).sort()).toEqual([...DOCUMENTED_FIELDS].sort());
			expect(body).toMatchObject(boundsOf(schemaNamed('CallRequest'), bound));
		},
		output: [{ call_id: expect.any(String), scheduled_for: expect.any(String) }],
	})),
	{
		title: 'does not place a call outside Calling Hours if that is chosen',
		parameters: () => ({
			...CALL,
			...outsideCallingHours(),
		}),
		requests: [],
		output: [{ placed: false, call_id: null, next_opening: expect.any(String) }],
	},
	{
		title: 'calls a number once if several items have it, in any format',
		items: [{ phone: '9876500777' }, { phone: '+91 98765-00777' }],
		parameters: { ...CALL, phoneNumber: '={{ $json.phone }}' },
		requests: ['POST /v1/call'],
		output: [
			{ placed: true, call_id: expect.any(String) },
			{ placed: false, call_id: null, not_placed_reason: 'duplicate_number' },
		],
	},
	{
		title: 'does not call a number again in another execution with Limit Calls per Person',
		isRunTwice: true,
		parameters: { ...CALL, phoneNumber: '9876500778', ...once },
		requests: ['POST /v1/call'],
		output: [
			{
				placed: false,
				call_id: null,
				not_placed_reason: 'call_limit_reached',
				next_call_possible_at: expect.any(String),
			},
		],
	},
	{
		title: 'stops if the agent has no number, at any HTTP status',
		parameters: { ...CALL, ...agent(agents.noNumber) },
		requests: ['POST /v1/call'],
		rejection: "The agent has no outbound number, so it can't place calls",
	},
	{
		title: 'places a call and returns its outcome, summary, and captured values when it has ended',
		prepare: (simulator) =>
			simulator.setAutoComplete({
				afterMs: 0,
				outcome: { summary: 'Wants a visit', data_captured: { day: 'Monday' } },
			}),
		parameters: { ...CALL, personName: 'Asha Rao', ...WAIT },
		requests: ['POST /v1/call', 'GET /v1/call/{placed}'],
		output: [
			{
				outcome: 'Answered',
				timed_out: false,
				summary: 'Wants a visit',
				captured_day: 'Monday',
			},
		],
	},
	{
		title: 'asks a person and returns the captured answer when the call has ended',
		parameters: QUESTION,
		prepare: (simulator) =>
			simulator.setAutoComplete({
				afterMs: 0,
				outcome: { data_captured: { answer_to_question: ' YES' } },
			}),
		requests: ['POST /v1/call', 'GET /v1/call/{placed}'],
		output: [
			{
				answer: 'yes',
				captured_answer: ' YES',
				call_id: expect.any(String),
				timed_out: false,
			},
		],
		verify: ({ requests }) => {
			expect(requests[0]?.body).toMatchObject({
				data_extraction: [
					{ key: 'answer_to_question', description: QUESTION.question, required: true },
				],
			});
		},
	},
	{
		title: 'does not ask outside Calling Hours',
		parameters: () => ({
			...QUESTION,
			...omit(outsideCallingHours(), 'outsideCallingHours'),
		}),
		requests: [],
		output: [{ answer: 'not_reached', placed: false, call_id: null }],
	},
	{
		title: 'does not ask the same person again with Limit Calls per Person',
		isRunTwice: true,
		prepare: (simulator) => simulator.setAutoComplete({ afterMs: 0 }),
		parameters: { ...QUESTION, phoneNumber: '9876500779', ...once },
		requests: ['POST /v1/call', 'GET /v1/call/{placed}'],
		output: [
			{
				answer: 'not_reached',
				placed: false,
				call_id: null,
				not_placed_reason: 'call_limit_reached',
				next_call_possible_at: expect.any(String),
			},
		],
	},
];
