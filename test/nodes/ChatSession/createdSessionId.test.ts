import type { ApiResponse } from '../../../nodes/core/service/http';
import { ServiceProfile } from '../../../nodes/core/profile/serviceProfile';
import { createdSessionId } from '../../../nodes/ChatSession/operations/create.operation';
import { clientOf } from '../core/service/clientOf';
import type { JsonValue } from '../../../nodes/core/values/json';

const accountWith = (session: object) => ({
	client: clientOf(jest.fn()),
	profile: new ServiceProfile({ 'chat.session': { body: { a: '{agent}' }, ...session } }),
});
const response = (body: JsonValue): ApiResponse => ({ status: 200, body });

test.each<[string, JsonValue, string | null]>([
	['at the top', { session_id: 's-1' }, 's-1'],
	['in the envelope', { success: true, data: { session_id: 's-1' } }, 's-1'],
	['in a list', { of: [{ it: [{ session_id: 's-1' }] }] }, 's-1'],
	['not if there are two', { data: { a: { session_id: 'in' }, session_id: 'out' } }, null],
	['the same twice', { a: { session_id: 's-1' }, b: { session_id: 's-1' } }, 's-1'],
	["after one that isn't an ID", { session_id: { id: 1 }, data: { session_id: 's-1' } }, 's-1'],
	['nowhere', { session: 's-1' }, null],
	['not in a text', 'session_id', null],
])('finds the ID of a created session: %s', (_name, body, id) => {
	expect(createdSessionId(accountWith({}), response(body))).toBe(id);
});

test.each<[string, string | null]>([
	['data.id', 's-1'],
	['data.number', '7'],
	['data.empty', null],
	['data', null],
])('with the path %s in the profile: %p', (path, id) => {
	const body = { data: { id: 's-1', number: 7, empty: '', session_id: 's-2' } };
	expect(createdSessionId(accountWith({ session: path }), response(body))).toBe(id);
});
