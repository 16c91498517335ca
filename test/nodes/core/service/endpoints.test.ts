import { withAdditions, type Additions } from '../../../../nodes/core/service/endpoints';
import { clientOf } from './clientOf';
import { CALL_ID, CAMPAIGN_ID, ENDPOINTS, SESSION_ID } from './everyEndpoint';

/** The response of an endpoint that returns this body, or the error. */
async function resultOf(name: string, body: unknown): Promise<unknown> {
	const response = { status: 200, headers: {}, text: JSON.stringify(body) };
	const client = clientOf(async () => await Promise.resolve(response));
	const endpoint = ENDPOINTS.find((one) => one.name === name);
	return await endpoint?.send(client).catch((error: unknown) => error);
}

/** One row for each body of an endpoint. */
const rows = (...endpoints: Array<[name: string, ...bodies: object[]]>): Array<[string, object]> =>
	endpoints.flatMap(([name, ...bodies]) => bodies.map((body): [string, object] => [name, body]));

const CONTACTS = 'POST /v1/campaigns/{id}/contacts';
const STATUS = 'GET /v1/campaigns/{id}/status';
const INBOUND = 'POST /v1/chat/inbound';
const INJECT = 'POST /v1/chat/session/{id}/inject_context';
const LEGACY_MESSAGE = 'POST /chat_messages/send_message';
const PAUSE = 'POST /chat_sessions/{id}/pause_session';
/** As the service returns it. */
const ok = (data: unknown) => ({ success: true, data });

test.each(
	rows(
		['POST /v1/call', { call_id: 'c' }, { success: true, call_id: 'c' }],
		['GET /v1/call/{id}', ok({ call_id: CALL_ID.toUpperCase() }), { call_id: CALL_ID }],
		['GET /v1/call/{id}/transcript', ok({ transcript: [] })],
		['GET /v1/call/{id}/recording', ok({ recording_url: 'https://x.example' })],
		['GET /v1/calls', ok({}), { calls: [] }, [{ call_id: 'c' }], []],
		['GET /v1/active_agents', { data: {} }, { agents: {} }],
		[CONTACTS, { campaign_upload_id: 7 }, ok({ campaign_upload_id: '7' })],
		[CONTACTS, { campaign_upload_id: null, contacts_accepted: 0 }, ok({ contacts_accepted: '1' })],
		[STATUS, { campaign: { id: CAMPAIGN_ID } }, ok({ campaign: { id: '42' } })],
		[STATUS, ok({ campaign: {} }), ok({ uploads: [] })],
		[INBOUND, { success: true, state: 'default', reply: '' }],
		[INBOUND, ok({ result: [{ turn_id: 't' }] }), { reply: '', turn: { reply: 'Hi' } }],
		[INJECT, ok({ context: ['a', 'b…'] }), { session_id: SESSION_ID.toUpperCase() }],
		[LEGACY_MESSAGE, { response: 'Hi' }, { session_id: SESSION_ID.toUpperCase(), response: 'Hi' }],
		[PAUSE, ok({ session_id: SESSION_ID }), { success: true, message: 'Paused' }],
	),
)('%s: %j also proves success', async (name, body) => {
	expect(await resultOf(name, body)).toMatchObject({ status: 200, body });
});

const READS = ENDPOINTS.map(({ name }) => name).filter((name) => name.startsWith('GET '));
const OTHER = { session_id: 'other', context: ['Called back'] };

/** `success` alone after a change: test/nodes/unprovenResponses. */
test.each(
	rows(
		...READS.map((name): [string, object] => [name, { success: true }]),
		['GET /v1/call/{id}', ok({}), ok(['picked']), ok({ status: 'picked' })],
		['GET /v1/calls', { calls: [], error: 'Forbidden' }, ok('ok'), { success: true, calls: null }],
		['POST /v1/call', ...[0, '0', true, ['c']].map((id) => ok({ call_id: id }))],
		[CONTACTS, { campaign_upload_id: 0 }, { campaign_upload_id: null, contacts_accepted: -1 }],
		[CONTACTS, { contacts_accepted: {} }, ok({ contacts_received: 1 })],
		// Gateways write these, too.
		[INBOUND, { state: 'down' }, { mode: 'maintenance' }, { message_id: 'm' }],
		[INJECT, { context: ['Called back'] }],
		// About another session.
		[INJECT, OTHER, ok(OTHER)],
		['POST /chat_sessions/{id}/close_session', { session_id: 'other', summary: 'Done' }],
		[PAUSE, { session_id: 'other', message: 'Paused' }],
		[LEGACY_MESSAGE, { session_id: 'other', response: 'Hi' }],
		[LEGACY_MESSAGE, { response: ' ' }, { response: false }],
	),
)('%s: %j proves nothing', async (name, body) => {
	expect(await resultOf(name, body)).toMatchObject({ name: 'OutcomeUnknown' });
});

test.each<[string, object, string]>([
	['GET /v1/call/{id}', { call_id: 'y', status: 'picked' }, 'call'],
	['GET /v1/call/{id}/transcript', { call_id: 'y', transcript: [] }, 'call'],
	['GET /v1/call/{id}/recording', { call_id: 'y', recording_url: 'https://s.example' }, 'call'],
	['GET /v1/campaigns/{id}/status', { campaign: { id: 43 } }, 'campaign'],
	['GET /v1/campaigns/{id}/status', { campaign: { id: '43', status: 'Active' } }, 'campaign'],
])('%s: %j is another record, so it is not used', async (name, data, kind) => {
	expect(await resultOf(name, { success: true, data })).toMatchObject({
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
