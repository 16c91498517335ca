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
	[
		'the call that was picked up, or picked up later',
		[
			call('a', SAME, { call_picked_at: null }),
			call('b', SAME, { call_picked_at: '2027-01-01T10:01:00Z' }),
			call('c', SAME, { call_picked_at: '2027-01-01T10:00:30Z' }),
		],
		['b'],
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
		'the newer call according to its time since 1970',
		[call('a', 1_800_000_000), call('b', '1800000000001'), call('c', SAME)],
		['b'],
	],
	[
		'the newer call according to seconds and milliseconds',
		[call('a', 1_800_000_001), call('b', '1800000000000')],
		['a'],
	],
	[
		'calls of two numbers that end alike, and both have country codes',
		[call('a', SAME), call('b', SAME, { phone_number: '+14176543210' })],
		['a', 'b'],
	],
	[
		'calls of two numbers that end differently, and one has no country code',
		[call('a', SAME), call('b', SAME, { phone_number: '98765-43211' })],
		['a', 'b'],
	],
	[
		'the newest of a number without a country code',
		[call('a', SAME), call('b', '2027-01-01T11:00:00Z')].map((each) => ({
			...each,
			phone_number: '98765-43210',
		})),
		['b'],
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
		'calls without a single number',
		[
			call('a', SAME),
			call('nobody', SAME, { phone_number: null }),
			call('masked', SAME, { phone_number: '+91XXXXXX3210' }),
		],
		['a', 'nobody', 'masked'],
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
])(
	'a time %s among others of the number stops the node, because a reached person could come out as not reached',
	async (_what, time) => {
		const calls = [
			call('a', SAME),
			call('b', time),
			call('other', SAME, { phone_number: '+442079460958' }),
		];
		await expect(latest(...calls)).rejects.toMatchObject({
			message: expect.stringContaining("The latest call of 1 number isn't certain"),
			resolution: expect.stringContaining('before you call anybody again'),
			origin: 'response',
		});
	},
);

test('a number that is also listed without its country code stops the node, because its calls could be returned as those of two people', async () => {
	const calls = ['+442079460958', '020 7946 0958'].map((phone_number, index) =>
		call(`${index}`, SAME, { phone_number }),
	);
	await expect(latest(...calls)).rejects.toMatchObject({
		message: `The latest calls aren't certain, because "442079460958" and "02079460958" in the call list may be the same number`,
		resolution: expect.stringContaining('before you call anybody again'),
	});
});
