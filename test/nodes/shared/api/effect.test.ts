import { findEffect } from '../../../../nodes/shared/api/effect';
import type { ServiceRequest } from '../../../../nodes/shared/api/http';
import type { JsonValue } from '../../../../nodes/shared/json';

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
