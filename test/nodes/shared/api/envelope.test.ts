import { dataOf, parseResponse, recordOf } from '../../../../nodes/shared/api/envelope';
import { isRejection, OutcomeUnknown, ServiceRejection } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/modelAdvice';
import type { JsonValue } from '../../../../nodes/shared/json';

const request = { method: 'POST', path: '/v1/call' } as const;
const always = { evidence: () => true, now: 0 };
const read = (status: number, text: string) =>
	parseResponse(request, { status, headers: {}, text }, always);

test.each([200, 201, 204, 299])('%i with its evidence is a success', (status) => {
	expect(read(status, '{"a":1}')).toEqual({ status, body: { a: 1 } });
});

test.each([0, 199, 300, 304, 500])('%i is none, whatever stands in the body', (status) => {
	expect(() => read(status, '{"a":1}')).toThrow('it is not known whether the request took effect');
});

test.each([
	['fine', "The response isn't JSON, so it is not known"],
	['OK', "The response isn't JSON, so it is not known"],
	['see [1]', "The response isn't JSON, so it is not known"],
	[' \n{"a":1', 'The response arrived incomplete or unreadable'],
	['{"a":1', 'The response arrived incomplete or unreadable, so it is not known'],
	['[1] [2]', 'The response arrived incomplete or unreadable, so it is not known'],
	[`${'['.repeat(600)}${']'.repeat(600)}`, 'The response arrived incomplete or unreadable'],
])('what is not JSON is not a success: %s', (text, words) => {
	expect(() => read(200, text)).toThrow(words);
});

test('a documented error beside the ID of a new call is neither a rejection nor a success, whatever its status', () => {
	const text = JSON.stringify({
		error: 'No number',
		details: { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED' },
		data: { call_id: 'c-1' },
	});
	for (const status of [200, 201, 400, 422, 500]) {
		const reading = () =>
			parseResponse(
				request,
				{ status, headers: {}, text },
				{ ...always, effectFields: ['call_id'] },
			);
		expect(reading).toThrow(OutcomeUnknown);
		expect(reading).toThrow('so it is not known whether the request took effect');
	}
});

test('a status that says no by itself is a rejection without words of the service', () => {
	const rejected = () => {
		try {
			return read(413, '<html>');
		} catch (error) {
			return error;
		}
	};
	expect(rejected()).toMatchObject({ outcome: 'rejected', rejection: { texts: [], body: {} } });
});

test.each<[JsonValue, JsonValue, object]>([
	[{ success: true, data: { a: 1 } }, { a: 1 }, { a: 1 }],
	[{ success: true, data: null, message: 'x' }, null, { message: 'x' }],
	[{ a: 1 }, { a: 1 }, { a: 1 }],
	[{ success: true, data: 'text', message: 'x' }, 'text', { data: 'text', message: 'x' }],
	[[1, 2], [1, 2], { data: [1, 2] }],
	['text', 'text', { data: 'text' }],
	[0, 0, { data: 0 }],
	[null, null, {}],
])('of %j the data is %j and the record %j', (body, data, record) => {
	expect(dataOf({ status: 200, body })).toEqual(data);
	expect(recordOf({ status: 200, body })).toEqual(record);
});

test.each<[string, string, string]>([
	['/v1/campaigns/7/contacts', "Couldn't find Campaign", 'The service does not know this campaign'],
	[
		'/v1/call',
		'agent_not_found',
		'The service does not find this agent, or not in the account of this API token',
	],
	['/v1/chat/session/s/inject_context', 'session_closed', 'The chat session is closed'],
	['/v1/call', 'session_closed', 'The service did not accept the request'],
	[
		'/v1/chat/inbound',
		'Agent not found or not associated with this account',
		'The agent does not exist in the account of this API token',
	],
])('at %s, where it is not documented, %s is explained and has no code', (path, error, message) => {
	const text = JSON.stringify({ success: false, error });
	const told = (status: number): unknown => {
		try {
			return parseResponse({ method: 'POST', path }, { status, headers: {}, text }, always);
		} catch (thrown) {
			return thrown;
		}
	};
	expect(told(422)).toMatchObject({ message, outcome: 'rejected', rejection: { texts: [error] } });
	expect(told(422)).not.toHaveProperty('rejection.code');
	expect(told(500)).toMatchObject({ outcome: 'unknown' });
});

test('a rejection is known by the documented error that it is', () => {
	const rejected = (code?: 'call_not_found') =>
		new ServiceRejection('No', forEveryone('Ask.'), 'no', 404, {
			...(code && { code }),
			texts: [],
			body: {},
		});
	expect(isRejection(rejected('call_not_found'), 'call_not_found')).toBe(true);
	expect(isRejection(rejected('call_not_found'), 'session_closed')).toBe(false);
	expect(isRejection(rejected(), 'call_not_found')).toBe(false);
	expect(isRejection(new Error('call_not_found'), 'call_not_found')).toBe(false);
});
