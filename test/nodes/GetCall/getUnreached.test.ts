/** Get Unreached: who is returned to be called again, with what, and who isn't. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { plainText } from '../../../nodes/core/values/values';
import { clock } from '../../../nodes/host/clock';
import { service } from '../../engine';
import { heapInUse } from '../../engine/heap';
import { nodeHarness } from '../nodeHarness';

const { records, errorOf, run } = nodeHarness('getCall', {
	...{ operation: 'getUnreached', periodDays: 7, maximumAttempts: 3, hoursBetween: 20 },
});
const NOW = '2026-11-29T11:00:00+05:30';
beforeEach(() => {
	jest.spyOn(clock, 'now').mockReturnValue(Date.parse(NOW));
});
afterEach(() => jest.restoreAllMocks());

const withCalls = (calls: IDataObject) => ({ serviceProfile: { calls } });
const credential = withCalls({ query: { since: '{from?}' }, list: 'data', next: 'none' });
const phone = (person: number) => `+91900000000${person}`;
/** Of a person, this many hours ago. */
const call = (person: number, hours: number, status = 'not_picked', more: IDataObject = {}) => ({
	call_id: `${person}-${hours}`,
	...{ phone_number: phone(person), caller_name: `Person ${person}`, status },
	created_at: new Date(Date.parse(NOW) - hours * 3_600_000).toISOString(),
	...more,
});
/** The service has these calls. */
const has = (...data: IDataObject[]) => {
	const queries: unknown[] = [];
	const remember = (query: unknown) => queries.push(query) > 0;
	service().get('/v1/calls').query(remember).reply(200, { success: true, data });
	return queries;
};
const personIn = (to: unknown) => Number(plainText(to).slice(-1));
/** Who is returned. */
const found = async (parameters: INodeParameters = {}, profile = credential) =>
	(await records(parameters, { credential: profile })).map(({ phone: to }) => personIn(to));

test('returns a person with the number of attempts, the last outcome, and when a call is possible again', async () => {
	const queries = has(call(1, 30), call(1, 50, 'failed'));
	expect(await records({}, { credential })).toEqual([
		{
			person_name: 'Person 1',
			phone: phone(1),
			attempts: 2,
			last_outcome: 'Not answered',
			last_call_at: '2026-11-27T23:30:00.000Z',
			last_call_id: '1-30',
			phone_key: '919000000001',
		},
	]);
	expect(queries).toEqual([{ since: '2026-11-22T00:30:00-05:00' }]);
});

test.each<[string, IDataObject[], INodeParameters?]>([
	['was reached in the latest call', [call(1, 50), call(1, 30, 'picked')]],
	[
		'was reached in one of two calls that began at the same time',
		[call(1, 30), call(1, 30, 'picked', { call_id: 'b' })],
	],
	[
		'was reached under the number with another zero',
		[
			call(1, 50, 'not_picked', { phone_number: '+442079460958' }),
			call(1, 30, 'picked', { phone_number: '+4402079460958' }),
		],
	],
	['has a call with a status that nobody chose', [call(1, 30, 'busy')]],
	['has a call in progress', [call(1, 50), call(1, 30, 'in_progress')]],
	['had as many calls as allowed', [call(1, 30), call(1, 50), call(1, 70)]],
	['had as many attempts in one call', [call(1, 30, 'not_picked', { retry_count: 2 })]],
	[
		'had as many attempts in an earlier call',
		[call(1, 50, 'not_picked', { retry_count: 2 }), call(1, 30, 'not_picked', { retry_count: 0 })],
	],
	['was called a moment ago', [call(1, 50), call(1, 19)]],
	[
		'has only calls with another one of the statuses',
		[call(1, 30, 'failed')],
		{ statuses: 'not_picked' },
	],
	['has no number', [call(1, 30, 'not_picked', { phone_number: null })]],
	['hides the number', [call(1, 30, 'not_picked', { phone_number: 'anonymous' })]],
])('does not return a person who %s', async (_what, calls, parameters = {}) => {
	has(...calls, call(2, 30));
	expect(await found(parameters)).toEqual([2]);
});

test.each([
	['Not Answered or Failed', [1, 3]],
	['not answered, Failed', [1, 3]],
	['Failed', [3]],
	['Voicemail', [4]],
])('returns people with the statuses %s', async (statuses, people) => {
	has(call(1, 30), call(2, 30, 'picked'), call(3, 30, 'failed'), call(4, 30, 'voicemail'));
	expect(await found({ statuses })).toEqual(people);
});

test('counts no call before the period, also if the service ignores the filter', async () => {
	const long = 90 * 24;
	has(...[0, 1, 2].map((hour) => call(1, long + hour)), call(1, 30), call(3, long, 'picked'));
	expect(await found({ options: { goal: 1 } })).toEqual([1]);
});

test('takes the name of an earlier call if the newest one has none', async () => {
	has(call(1, 30, 'not_picked', { caller_name: null }), call(1, 50));
	expect(await records({}, { credential })).toMatchObject([{ person_name: 'Person 1' }]);
});

test('returns those first who wait longest', async () => {
	has(call(1, 30), call(2, 19), call(3, 40), call(4, 10), call(5, 20));
	expect(await found()).toEqual([3, 1, 5]);
});

describe('with a goal', () => {
	const goal = (people: number) => ({ options: { goal: people } });
	const calls = [
		...[call(1, 60, 'picked'), call(1, 30), call(2, 30, 'picked'), call(3, 1, 'in_progress')],
		...[call(4, 40), call(5, 50), call(6, 60)],
	];

	test.each<[number, number[]]>([
		[5, [6, 5]],
		[4, [6]],
		[3, []],
		[1, []],
	])('of %i, returns as many as are missing', async (people, expected) => {
		has(...calls);
		expect(await found(goal(people))).toEqual(expected);
	});

	test('that is far away, returns all', async () => {
		has(...calls);
		expect(await found(goal(50))).toEqual([6, 5, 4, 1]);
	});
});

test('compares times by their offsets, and numbers in any format', async () => {
	const at = (created_at: string, status: string, phone_number = '+919000000001') =>
		call(1, 30, status, { created_at, phone_number });
	has(
		at('2026-11-28T01:00:00+05:30', 'not_picked'),
		at('2026-11-27T20:00:00Z', 'picked', '+91 90000 00001'),
	);
	expect(await found()).toEqual([]);
});

// Otherwise, a person who was reached could come out as not reached.
test.each<[string, IDataObject, reason: string]>([
	...['2026-11-28 01:00:00', 'yesterday', null, 1_800_000_000].map(
		(created_at): [string, IDataObject, string] => [
			`the time ${created_at}`,
			{ created_at },
			"in created_at isn't a time with an offset",
		],
	),
	...['020 7946 0958', '+91XXXXXX3210', 9876543210].map(
		(phone_number): [string, IDataObject, string] => [
			`the number ${phone_number}`,
			{ phone_number },
			"in phone_number isn't an international number",
		],
	),
])('%s stops the node', async (_what, more, reason) => {
	has(call(2, 30), call(1, 30, 'not_picked', more));
	expect(await errorOf({}, { credential })).toMatchObject({
		message: expect.stringMatching(`^The latest call of each number isn't certain.*${reason}$`),
		description: expect.stringContaining('before you call anybody again'),
	});
});

test.each<[string, INodeParameters, string]>([
	['no status', { statuses: ' , ' }, "'Statuses' is empty"],
	['no attempts', { maximumAttempts: 0 }, "'Maximum Attempts' must be a whole number from 1"],
	['half an hour', { hoursBetween: 0.5 }, "'Hours Between Calls' must be a whole number from 0"],
	['no days', { periodDays: 0 }, "'Period (Days)' must be a whole number from 1"],
	['a goal of nobody', { options: { goal: 0 } }, "'Goal (People Reached)' must be a whole number"],
])('with %s, reads nothing', async (_what, parameters, message) => {
	const { message: said } = await errorOf(parameters, { credential });
	expect(said).toContain(message);
});

test('keeps of each call only what it uses, so that a long list takes little memory', async () => {
	const bytes = 1_000_000;
	const inUse = new Map<number, number>();
	const pageOf = (uri: string) => {
		const page = Number(new URL(uri, 'https://voice.example.com').searchParams.get('p') ?? 1);
		if (page === 1 || page === 4) inUse.set(page, heapInUse());
		// Each text is another one, because equal ones could take the memory of one.
		const summary = page.toString().repeat(bytes);
		return { data: page > 3 ? [] : [call(page, 30, 'not_picked', { summary })] };
	};
	service().get('/v1/calls').query(true).times(4).reply(200, pageOf);
	const query = { since: '{from?}', p: '{page}' };
	const paged = withCalls({ query, list: 'data', next: { page: 1 } });
	expect(await found({}, paged)).toEqual([1, 2, 3]);
	expect((inUse.get(4) ?? NaN) - (inUse.get(1) ?? NaN)).toBeLessThan(2 * bytes);
});

test.each(['picked', 'Answered', 'not_picked, picked'])(
	'with the statuses %s, says that people who answered are returned',
	async (statuses) => {
		has(call(1, 30), call(2, 30, 'picked'));
		const { data } = await run({ statuses }, { credential });
		expect(data.resultData.runData.Node?.[0]?.hints).toEqual([
			{
				message:
					"'Statuses' has Answered (picked), so people who answered are returned, too. To call only unreached people again, remove it.",
			},
		]);
	},
);
