import type { ServiceRequest } from '../../../../nodes/core/service/http';
import { withAdditions, type Additions } from '../../../../nodes/core/service/endpoints';
import { clientOf } from './clientOf';
import { endpointOf } from '../../../openapi/openapi';
import { CALL_ID, CAMPAIGN_ID, ENDPOINTS, SESSION_ID } from './everyEndpoint';

/** The requests to an endpoint that returns this body, and the response or the error. */
async function sendTo(name: string, body: unknown) {
	const requests: string[] = [];
	const transport = async ({ method, path }: ServiceRequest) => {
		requests.push(endpointOf(method, path));
		return await Promise.resolve({ status: 200, headers: {}, text: JSON.stringify(body) });
	};
	const endpoint = ENDPOINTS.find((one) => one.name === name);
	const result: unknown = await endpoint
		?.send(clientOf(transport))
		.catch((error: unknown) => error);
	return { requests, result };
}

test.each<[string, object]>([
	['POST /v1/call', { call_id: 'c' }],
	['POST /v1/call', { success: true, call_id: 'c' }],
	['GET /v1/call/{id}', { success: true, data: { call_id: CALL_ID.toUpperCase() } }],
	['GET /v1/call/{id}', { call_id: CALL_ID }],
	['GET /v1/call/{id}/transcript', { success: true, data: { transcript: [] } }],
	['GET /v1/call/{id}/recording', { success: true, data: { recording_url: 'https://x.example' } }],
	['GET /v1/calls', { success: true, data: {} }],
	['GET /v1/calls', { calls: [] }],
	['GET /v1/calls', [{ call_id: 'c' }]],
	['GET /v1/calls', []],
	['GET /v1/active_agents', { data: {} }],
	['GET /v1/active_agents', { agents: {} }],
	['POST /v1/campaigns/{id}/contacts', { campaign_upload_id: 7 }],
	['POST /v1/campaigns/{id}/contacts', { success: true, data: { campaign_upload_id: '7' } }],
	['POST /v1/campaigns/{id}/contacts', { campaign_upload_id: null, contacts_accepted: 0 }],
	['POST /v1/campaigns/{id}/contacts', { success: true, data: { contacts_accepted: '1' } }],
	['GET /v1/campaigns/{id}/status', { campaign: { id: CAMPAIGN_ID } }],
	['GET /v1/campaigns/{id}/status', { success: true, data: { campaign: { id: '42' } } }],
	['GET /v1/campaigns/{id}/status', { success: true, data: { campaign: {} } }],
	['GET /v1/campaigns/{id}/status', { success: true, data: { uploads: [] } }],
	['POST /v1/chat/inbound', { success: true, state: 'default', reply: '' }],
	['POST /v1/chat/inbound', { success: true, data: { result: [{ turn_id: 't' }] } }],
	['POST /v1/chat/inbound', { reply: '', turn: { reply: 'Hi' } }],
	['POST /v1/chat/session/{id}/inject_context', { success: true, data: { context: ['a', 'b…'] } }],
	['POST /v1/chat/session/{id}/inject_context', { session_id: SESSION_ID.toUpperCase() }],
	['POST /chat_messages/send_message', { response: 'Hi' }],
	['POST /chat_messages/send_message', { session_id: SESSION_ID.toUpperCase(), response: 'Hi' }],
	['POST /chat_sessions/{id}/pause_session', { success: true, data: { session_id: SESSION_ID } }],
	['POST /chat_sessions/{id}/pause_session', { success: true, message: 'Paused' }],
])('%s: %j also proves success', async (name, body) => {
	expect((await sendTo(name, body)).result).toMatchObject({ status: 200, body });
});

/** `success` alone after a change: test/nodes/unprovenResponses. */
test.each<[string, object]>([
	...ENDPOINTS.filter(({ name }) => name.startsWith('GET ')).map(({ name }): [string, object] => [
		name,
		{ success: true },
	]),
	['GET /v1/call/{id}', { success: true, data: {} }],
	['GET /v1/call/{id}', { success: true, data: ['picked'] }],
	['GET /v1/call/{id}', { success: true, data: { status: 'picked' } }],
	['GET /v1/calls', { calls: [], error: 'Forbidden' }],
	['GET /v1/calls', { success: true, data: 'ok' }],
	['GET /v1/calls', { success: true, calls: null }],
	['POST /v1/call', { success: true, data: { call_id: 0 } }],
	['POST /v1/call', { success: true, data: { call_id: '0' } }],
	['POST /v1/call', { success: true, data: { call_id: true } }],
	['POST /v1/call', { success: true, data: { call_id: ['c'] } }],
	['POST /v1/campaigns/{id}/contacts', { campaign_upload_id: 0 }],
	['POST /v1/campaigns/{id}/contacts', { campaign_upload_id: null, contacts_accepted: -1 }],
	['POST /v1/campaigns/{id}/contacts', { contacts_accepted: {} }],
	['POST /v1/campaigns/{id}/contacts', { success: true, data: { contacts_received: 1 } }],
	// Gateways write these, too.
	['POST /v1/chat/inbound', { state: 'down' }],
	['POST /v1/chat/inbound', { mode: 'maintenance' }],
	['POST /v1/chat/inbound', { message_id: 'm' }],
	['POST /v1/chat/session/{id}/inject_context', { context: ['Called back'] }],
	// About another session.
	['POST /v1/chat/session/{id}/inject_context', { session_id: 'other', context: ['Called back'] }],
	[
		'POST /v1/chat/session/{id}/inject_context',
		{ success: true, data: { session_id: 'other', context: ['Called back'] } },
	],
	['POST /chat_sessions/{id}/close_session', { session_id: 'other', summary: 'Done' }],
	['POST /chat_sessions/{id}/pause_session', { session_id: 'other', message: 'Paused' }],
	['POST /chat_messages/send_message', { session_id: 'other', response: 'Hi' }],
	['POST /chat_messages/send_message', { response: ' ' }],
	['POST /chat_messages/send_message', { response: false }],
])('%s: %j proves nothing', async (name, body) => {
	expect((await sendTo(name, body)).result).toMatchObject({ name: 'OutcomeUnknown' });
});

test.each<[string, object, string]>([
	['GET /v1/call/{id}', { call_id: 'y', status: 'picked' }, 'call'],
	['GET /v1/call/{id}/transcript', { call_id: 'y', transcript: [] }, 'call'],
	['GET /v1/call/{id}/recording', { call_id: 'y', recording_url: 'https://s.example' }, 'call'],
	['GET /v1/campaigns/{id}/status', { campaign: { id: 43 } }, 'campaign'],
	['GET /v1/campaigns/{id}/status', { campaign: { id: '43', status: 'Active' } }, 'campaign'],
])('%s: %j is another record, so it is not used', async (name, data, kind) => {
	expect((await sendTo(name, { success: true, data })).result).toMatchObject({
		outcome: 'unknown',
		isTransient: false,
		message: `The service returned another ${kind} than the requested one`,
		resolution: expect.stringMatching(/^Nothing was changed\. Report this/),
	});
});

describe('additional fields', () => {
	test.each<[string, Additions['body'], Additions['body'], object]>([
		['are added', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
		["never replace the node's own", { a: 1 }, { a: 2 }, { a: 1 }],
		[
			'are merged into an object with the same name, at any depth',
			{ config: { retry: { attempts: 3 } } },
			{ config: { retry: { attempts: 9, voice: 'x' }, tone: 'calm' } },
			{ config: { retry: { attempts: 3, voice: 'x' }, tone: 'calm' } },
		],
		["don't replace an object by a text", { a: { b: 1 } }, { a: 'text' }, { a: { b: 1 } }],
		["don't replace a value by an object", { a: null }, { a: { b: 1 } }, { a: null }],
		["aren't mixed into lists", { a: [{ b: 1 }] }, { a: [{ c: 2 }, 3] }, { a: [{ b: 1 }] }],
	])('%s', (_name, own = {}, added = {}, expected) => {
		const request = { method: 'POST', path: '/', body: own } as const;
		expect(withAdditions(request, { body: added }).body).toEqual(expected);
	});

	test('may have names that JavaScript reserves', () => {
		const added = JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }');
		const { body } = withAdditions({ method: 'POST', path: '/', body: { a: 1 } }, { body: added });
		expect(JSON.parse(JSON.stringify(body))).toEqual({ ...added, a: 1 });
		expect({}).not.toHaveProperty('polluted');
	});

	test('of the query never replace those of the node, and nothing empty is sent', () => {
		const query = { status: ['picked', 'failed'], page: 2 };
		const added = { query: { status: 'x', page: [1], tags: ['a', 'b'] }, body: {} };
		expect(withAdditions({ method: 'GET', path: '/', query }, added)).toEqual({
			method: 'GET',
			path: '/',
			query: { ...query, tags: ['a', 'b'] },
		});
	});
});
