import { dataOf, recordOf } from '../../../../nodes/shared/api/envelope';
import { findEffect, parseResponse } from '../../../../nodes/shared/api/response';
import { isRejection, OutcomeUnknown, ServiceRejection } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import type { ServiceRequest } from '../../../../nodes/shared/api/http';
import type { JsonValue } from '../../../../nodes/shared/json';

const request = { method: 'POST', path: '/v1/call' } as const;
const always = { successCheck: () => true, now: 0 };
const read = (status: number, text: string) =>
	parseResponse(request, { status, headers: {}, text }, always);

test.each([200, 201, 204, 299])('%i that passes its check is a success', (status) => {
	expect(read(status, '{"a":1}')).toEqual({ status, body: { a: 1 } });
});

test.each([0, 199, 300, 304, 500])('%i is not a success, whatever the body contains', (status) => {
	expect(() => read(status, '{"a":1}')).toThrow('the outcome is unknown');
});

test.each([
	['fine', "The response isn't JSON, so the outcome is unknown"],
	['OK', "The response isn't JSON, so the outcome is unknown"],
	['see [1]', "The response isn't JSON, so the outcome is unknown"],
	[' \n{"a":1', 'The response is incomplete or unreadable'],
	['{"a":1', 'The response is incomplete or unreadable, so the outcome is unknown'],
	['[1] [2]', 'The response is incomplete or unreadable, so the outcome is unknown'],
	[`${'['.repeat(600)}${']'.repeat(600)}`, 'The response is incomplete or unreadable'],
])('a body that is not JSON is not a success: %s', (text, message) => {
	expect(() => read(200, text)).toThrow(message);
});

test('a documented error with the ID of a new call is neither a rejection nor a success, at any status', () => {
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
		expect(reading).toThrow('so the outcome is unknown');
	}
});

test('a status that means "not processed" is a rejection without the text of the service', () => {
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
	['/v1/campaigns/7/contacts', "Couldn't find Campaign", "The service doesn't know this campaign"],
	[
		'/v1/call',
		'agent_not_found',
		'The service found no such agent in the account of this API token',
	],
	['/v1/chat/session/s/inject_context', 'session_closed', 'The chat session is closed'],
	['/v1/call', 'session_closed', 'The service rejected the call: "session_closed"'],
	[
		'/v1/chat/inbound',
		'Agent not found or not associated with this account',
		'The account of this API token has no agent with this ID',
	],
])('at the undocumented status %s, %s has a message but no code', (path, error, message) => {
	const text = JSON.stringify({ success: false, error });
	const errorAt = (status: number): unknown => {
		try {
			return parseResponse({ method: 'POST', path }, { status, headers: {}, text }, always);
		} catch (thrown) {
			return thrown;
		}
	};
	expect(errorAt(422)).toMatchObject({
		message,
		outcome: 'rejected',
		rejection: { texts: [error] },
	});
	expect(errorAt(422)).not.toHaveProperty('rejection.code');
	expect(errorAt(500)).toMatchObject({ outcome: 'unknown' });
});

test('a rejection has the code of its documented error', () => {
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

describe('a sign of an effect', () => {
	const CALL: ServiceRequest = {
		method: 'POST',
		path: '/v1/call',
		body: { additional_data: { call_id: 'earlier' } },
	};
	const shown = (status: number, body: JsonValue, request = CALL) =>
		findEffect(request, { status, body }, ['call_id', 'contacts_accepted']);

	test.each<[number, JsonValue, string]>([
		[400, { call_id: 'c-1' }, 'contains a call_id (c-1)'],
		[500, { error: 'x', data: [{ call: { call_id: 7 } }] }, 'contains a call_id (7)'],
		[400, { call_id: 'earlier', data: { call_id: 'c-1' } }, 'contains a call_id (c-1)'],
		[422, { data: { contacts_accepted: 2 } }, 'contains a contacts_accepted (2)'],
		[429, { success: true }, 'says "success": true'],
		[413, { success: true, data: {} }, 'says "success": true'],
	])('%i %j: it %s', (status, body, words) => {
		expect(shown(status, body)).toBe(words);
	});

	test.each<[string, number, JsonValue]>([
		['an ID that the request itself has', 400, { echo: { call_id: 'earlier' } }],
		['no ID', 400, { call_id: null, data: { call_id: '' } }],
		['a count of none', 400, { contacts_accepted: 0, data: { contacts_accepted: '0' } }],
		['because it receives too many', 429, { success: false, error: 'call_id' }],
		['a success whose status contradicts nothing', 200, { success: true }],
	])('%s shows no effect', (_name, status, body) => {
		expect(shown(status, body)).toBeUndefined();
	});

	test('a read has no effect', () => {
		const read: ServiceRequest = { method: 'GET', path: '/v1/call/c-1' };
		expect(shown(429, { success: true, call_id: 'c-1' }, read)).toBeUndefined();
	});
});
