import { callsByNumber } from '../../../nodes/GetCall/latestCalls';
import type { JsonObject, JsonValue } from '../../../nodes/core/values/json';

const SAME = '2027-01-01T10:00:00Z';
const call = (call_id: string, created_at: JsonValue = SAME, more: JsonObject = {}) => ({
	call_id,
	phone_number: '+919876543210',
	created_at,
	...more,
});
const latest = async (...calls: JsonObject[]) =>
	(await callsByNumber(calls)).flatMap(({ newest }) => newest.map(({ call_id: id }) => id));

test.each<[string, JsonObject[], string[]]>([
	[
		'a later attempt, if they were created at the same time',
		[call('first', SAME, { retry_count: 0 }), call('second', SAME, { retry_count: '1' })],
		['second'],
	],
	['all calls, if nothing distinguishes them', [call('a'), call('b')], ['a', 'b']],
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
		'the newest of one number, in any format',
		[call('a'), call('b', '2027-01-01T11:00:00Z', { phone_number: '+91 98765 43210' })],
		['b'],
	],
	[
		'the newest of a number that was called with and without the prefix of mobile numbers',
		[
			call('a', SAME, { phone_number: '+5491123456789' }),
			call('b', '2027-01-01T11:00:00Z', { phone_number: '+541123456789' }),
		],
		['b'],
	],
	[
		'calls of two numbers that end alike, and both have country codes',
		[call('a'), call('b', SAME, { phone_number: '+14176543210' })],
		['a', 'b'],
	],
	['no call without a number', [call('a'), call('b', SAME, { phone_number: null })], ['a']],
	['the only call of a number, whose time is unreadable', [call('a', 'yesterday')], ['a']],
])('keeps %s, in any order of the list', async (_what, calls, expected) => {
	expect(await latest(...calls)).toEqual(expected);
	expect(await latest(...[...calls].reverse())).toEqual([...expected].reverse());
});

const NO_NUMBER = /, because ".*" in phone_number isn't an international number$/;
const NO_TIME = /, because .* in created_at can't be compared$/;
const withPhone = (phone_number: JsonValue) => [call('a'), call('b', SAME, { phone_number })];

// Otherwise, a person who was reached could come out as not reached.
test.each<[string, JsonObject[], RegExp]>([
	['a time without a UTC offset', [call('a'), call('b', '2027-01-01T09:00:00')], NO_TIME],
	['an unreadable time', [call('a'), call('b', '2027-01-01 10:00:00 UTC')], NO_TIME],
	['a missing time', [call('a'), call('b', null)], NO_TIME],
	['a time that is a number', [call('a'), call('b', 1_800_000_000)], NO_TIME],
	['only unreadable times', [call('a', 'yesterday'), call('b', 'yesterday')], NO_TIME],
	['only missing times', [call('a', null), call('b', null)], NO_TIME],
	['a number without a country code', withPhone('020 7946 0958'), NO_NUMBER],
	['a number that hides digits', withPhone('+91XXXXXX3210'), NO_NUMBER],
	['a number of ten digits', withPhone(9876543210), NO_NUMBER],
])('%s among the calls of a number stops the node', async (_what, calls, reason) => {
	const other = call('other', SAME, { phone_number: '+442079460958' });
	await expect(latest(...calls, other)).rejects.toMatchObject({
		message: expect.stringMatching(reason),
		resolution: expect.stringContaining('before you call anybody again'),
		origin: 'response',
	});
});
