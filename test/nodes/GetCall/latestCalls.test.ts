import { latestOfEachNumber } from '../../../nodes/GetCall/latestCalls';
import type { JsonObject } from '../../../nodes/shared/json';

const call = (call_id: string, created_at: JsonObject[string], more: JsonObject = {}) => ({
	call_id,
	phone_number: '+919876543210',
	created_at,
	...more,
});
const latest = async (...calls: JsonObject[]) =>
	(await latestOfEachNumber(calls)).map(({ call_id: id }) => id);

const SAME = '2027-01-01T10:00:00Z';

test.each<[string, JsonObject[], string[]]>([
	[
		'a later attempt, if they were created at the same time',
		[call('first', SAME, { retry_count: 0 }), call('second', SAME, { retry_count: '1' })],
		['second'],
	],
	['all calls, if nothing distinguishes them', [call('a', SAME), call('b', SAME)], ['a', 'b']],
	[
		'calls that differ by less than a millisecond',
		[call('a', '2027-01-01T10:00:00.123456Z'), call('b', '2027-01-01T10:00:00.123789Z')],
		['a', 'b'],
	],
	[
		'the newer call, if no time has a UTC offset',
		[call('a', '2027-01-01 11:00:00'), call('b', '2027-01-01T09:00:00')],
		['a'],
	],
	[
		'calls of two numbers that end alike, and both have country codes',
		[call('a', SAME), call('b', SAME, { phone_number: '+14176543210' })],
		['a', 'b'],
	],
	['the only call of a number, whose time is unreadable', [call('a', 'yesterday')], ['a']],
	[
		'the newer call according to its UTC offset',
		[call('a', '2027-01-01T12:00:00+05:30'), call('b', '2027-01-01T07:00:00.5Z')],
		['b'],
	],
	[
		'the newer call according to its UTC offset without a colon',
		[call('a', '2027-01-01T12:00:00+0530'), call('b', '2027-01-01T07:00:00.5Z')],
		['b'],
	],
	[
		'calls without a number',
		[call('a', SAME), call('nobody', SAME, { phone_number: null })],
		['a', 'nobody'],
	],
	[
		'the newest of one number, in any format',
		[call('a', SAME), call('b', '2027-01-01T11:00:00Z', { phone_number: '+91 98765 43210' })],
		['b'],
	],
])('keeps %s, in any order of the list', async (_what, calls, expected) => {
	expect(await latest(...calls)).toEqual(expected);
	expect(await latest(...[...calls].reverse())).toEqual([...expected].reverse());
});

test.each<[string, JsonObject[string]]>([
	['without a UTC offset', '2027-01-01T09:00:00'],
	['that is unreadable', '2027-01-01 10:00:00 UTC'],
	['that is missing', null],
	['that is a number', 1_800_000_000],
])(
	'a time %s among others of the number stops the node, because a reached person could come out as not reached',
	async (_what, time) => {
		const calls = [
			call('a', SAME),
			call('b', time),
			call('other', SAME, { phone_number: '+442079460958' }),
		];
		await expect(latest(...calls)).rejects.toMatchObject({
			message: expect.stringMatching(
				/^The latest call of each number isn't certain, because .* in created_at can't/,
			),
			resolution: expect.stringContaining('before you call anybody again'),
			origin: 'response',
		});
	},
);

test.each(['yesterday', null, 1_800_000_000])(
	'the time %j of all calls of a number stops the node, too',
	async (time) => {
		await expect(latest(call('a', time), call('b', time))).rejects.toThrow(/isn't certain/);
	},
);

test.each(['020 7946 0958', '+91XXXXXX3210', 9876543210])(
	'the number %p without a country code stops the node, because it may be one of the others',
	async (phone_number) => {
		const calls = [call('a', SAME), call('b', SAME, { phone_number })];
		await expect(latest(...calls)).rejects.toMatchObject({
			message: expect.stringMatching(/because ".*" in phone_number isn't an international number$/),
			resolution: expect.stringContaining('before you call anybody again'),
		});
	},
);
