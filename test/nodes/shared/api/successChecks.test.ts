import {
	hasAnyField,
	hasAnyFieldWithin,
	hasRecord,
	hasAnyValue,
	recordOf,
	type SuccessCheck,
} from '../../../../nodes/shared/api/envelope';
import type { ApiResponse, ServiceRequest } from '../../../../nodes/shared/api/http';
import type { JsonValue } from '../../../../nodes/shared/json';
import type { ApiClient } from '../../../../nodes/shared/api/client';
import * as endpoints from '../../../../nodes/shared/api/endpoints';
import { clientOf } from './clientOf';

type Send = (client: ApiClient) => Promise<ApiResponse>;

function serviceReturning(status: number, text: string) {
	const asked: string[] = [];
	const transport = jest.fn(async ({ method, path }: ServiceRequest) => {
		asked.push(`${method} ${path.replace(IDS, '/{id}')}`);
		return await Promise.resolve({ status, headers: {}, text });
	});
	return { transport, asked, client: clientOf(transport) };
}

const push = { agent_uuid: 'agent_a' };
const contacts = Buffer.from('{"phone":"9876543210"}');
const call = { agent_uuid: 'agent_a', country_code: 'IN', phone_number: '9876543210' };
const legacy = { agent_uuid: 'agent_a', chat_session_id: 's', message: 'Hello' };
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const IDS = new RegExp(`/(42|c|${ID})(?=/|$)`);

/** Endpoints with responses that prove success. */
const WRITES: Array<[string, Send, unknown[]]> = [
	[
		'POST /v1/call',
		async (client) => await endpoints.placeCall(client, call),
		[{ success: true, data: { call_id: 'c' } }, { call_id: 'c' }, { success: true, call_id: 'c' }],
	],
	[
		'POST /call',
		async (client) => await endpoints.placeCall(client, call, { legacy: true }),
		[{ success: true, data: { call_id: 'c' } }],
	],
	[
		'POST /v1/campaigns/{id}/contacts',
		async (client) => await endpoints.pushContacts(client, 42, push, contacts),
		[
			{ success: true, data: { campaign_upload_id: 7 } },
			{ campaign_upload_id: 7 },
			{ success: true, data: { campaign_upload_id: null, contacts_accepted: 0 } },
			{ success: true, data: { campaign_upload_id: '7' } },
			{ success: true, data: { contacts_accepted: '1' } },
		],
	],
	[
		'POST /v1/dnd_numbers',
		async (client) => await endpoints.addDndNumber(client, { body: { phone: '1' } }),
		[{ success: true, data: { id: 1 } }, { success: true }, { success: true, message: 'added' }],
	],
	[
		'DELETE /v1/dnd_numbers',
		async (client) => await endpoints.removeDndNumber(client, { query: { phone: '1' } }),
		[{ success: true, message: 'removed' }],
	],
	[
		'POST /v1/chat/session',
		async (client) => await endpoints.createSession(client, {}),
		[{ success: true, data: { id: ID } }, { success: true }],
	],
	[
		'POST /v1/chat/inbound',
		async (client) => await endpoints.sendInbound(client, {}),
		[
			{ success: true, data: { reply: 'Hi' } },
			{ success: true, state: 'default', reply: '' },
			{ success: true, data: { result: { turn_id: 't' } } },
		],
	],
	[
		'POST /v1/chat/inbound/async',
		async (client) => await endpoints.sendInboundAsync(client, {}),
		[{ success: true, data: { turn: 't' } }, { success: true }],
	],
	[
		'POST /v1/chat/session/{id}/support',
		async (client) => await endpoints.sendSupportCommand(client, ID, 'close'),
		[{ success: true, data: {} }, { success: true }],
	],
	[
		'POST /v1/chat/session/{id}/inject_context',
		async (client) => await endpoints.injectContext(client, ID, { context: 'x' }),
		[
			{ success: true, data: { session_id: ID, context: ['x'] } },
			{ context: ['begin', ' x '] },
			{ success: true, data: { session_id: ID.toUpperCase() } },
		],
	],
	[
		'POST /chat_sessions',
		async (client) => await endpoints.createLegacySession(client, { agent_uuid: 'agent_a' }),
		[{ success: true, data: { session_id: ID } }],
	],
	[
		'POST /chat_messages/send_message',
		async (client) => await endpoints.sendLegacyMessage(client, legacy),
		[{ success: true, data: { session_id: ID, response: '' } }, { response: 'Hi' }],
	],
	[
		'POST /chat_sessions/{id}/close_session',
		async (client) =>
			await endpoints.endLegacySession(client, 'close_session', ID, { agent_uuid: 'agent_a' }),
		[{ success: true, data: { session_id: ID, summary: '' } }],
	],
	[
		'POST /chat_sessions/{id}/pause_session',
		async (client) =>
			await endpoints.endLegacySession(client, 'pause_session', ID, { agent_uuid: 'agent_a' }),
		[
			{ success: true, data: { session_id: ID } },
			{ success: true, message: 'Paused' },
		],
	],
];

const READS: Array<[string, Send, unknown[]]> = [
	[
		'GET /v1/call/{id}',
		async (client) => await endpoints.getCall(client, 'c'),
		[{ success: true, data: { status: 'picked' } }, { call_id: 'c' }],
	],
	[
		'GET /v1/call/{id}/transcript',
		async (client) => await endpoints.getTranscript(client, 'c'),
		[{ success: true, data: { transcript: [] } }],
	],
	[
		'GET /v1/call/{id}/recording',
		async (client) => await endpoints.getRecording(client, 'c'),
		[{ success: true, data: { recording_url: 'https://storage.example.com/x' } }],
	],
	[
		'GET /v1/calls',
		async (client) => await endpoints.listCalls(client, { query: {} }),
		[
			{ success: true, data: [] },
			{ success: true, data: {} },
			{ success: true, calls: [] },
			[{ call_id: 'c' }],
		],
	],
	[
		'GET /v1/active_agents',
		async (client) => await endpoints.getActiveAgents(client),
		[
			{ success: true, data: [] },
			{ success: true, data: {} },
			{ success: true, agents: {} },
		],
	],
	[
		'GET /v1/campaigns/{id}/status',
		async (client) => await endpoints.getCampaignStatus(client, 42),
		[{ success: true, data: { campaign: { id: 42 } } }, { campaign: { id: 42 } }],
	],
	[
		'GET /v1/dnd_numbers',
		async (client) => await endpoints.listDndNumbers(client, {}),
		[{ success: true, data: [], meta: { total_pages: 0 } }],
	],
];

/** 2xx responses that prove nothing at any endpoint. */
const EMPTY: Array<[string, string]> = [
	['an empty body', ''],
	['white space', ' \n'],
	['null', 'null'],
	['an empty object', '{}'],
	['an empty list', '[]'],
	['another success word', '{"status":"ok"}'],
	['another word of failure', '{"status":"error"}'],
	['a message alone', '{"message":"ok"}'],
	['null under data', '{"data":null}'],
	['a page', '<!doctype html><title>Sign in</title>'],
	['half a response', '{"success":true,"data":{"call_id":"c'],
	['a number', '1'],
	['a text', '"ok"'],
	['null in each field', '{"call_id":null,"campaign_upload_id":null,"success":null}'],
];

/** `success: true` without the documented fields of the endpoint. */
const BARE: Array<[string, string]> = [
	['success alone', '{"success":true}'],
	['success with null', '{"success":true,"data":null}'],
];
const OPEN = new Set([
	'POST /v1/dnd_numbers',
	'POST /v1/chat/session',
	'POST /v1/chat/inbound/async',
	'POST /v1/chat/session/{id}/support',
]);

describe.each(WRITES)('%s', (name, send, proofs) => {
	test('sends the expected request', async () => {
		const { client, asked } = serviceReturning(200, JSON.stringify(proofs[0]));
		await send(client);
		expect(asked).toEqual([name]);
	});

	test.each(proofs.map((proof) => [JSON.stringify(proof)]))('%s is a success', async (text) => {
		expect(await send(serviceReturning(200, text).client)).toMatchObject({ status: 200 });
	});

	test.each([...EMPTY, ...(OPEN.has(name) ? [] : BARE)])(
		'%s at 200 and 204 is unknown, and the request is sent once',
		async (_what, text) => {
			for (const status of [200, 204]) {
				const { client, transport } = serviceReturning(status, text);
				await expect(send(client)).rejects.toMatchObject({
					name: 'OutcomeUnknown',
					outcome: 'unknown',
					message: expect.stringMatching(/so the outcome is unknown$/),
					resolution: expect.stringContaining("wasn't sent again"),
				});
				expect(transport).toHaveBeenCalledTimes(1);
			}
		},
	);
});

describe.each(READS)('%s', (name, send, proofs) => {
	test('sends the expected request', async () => {
		const { client, asked } = serviceReturning(200, JSON.stringify(proofs[0]));
		await send(client);
		expect(asked).toEqual([name]);
	});

	test.each(proofs.map((proof) => [JSON.stringify(proof)]))('%s can be read', async (text) => {
		expect(await send(serviceReturning(200, text).client)).toMatchObject({ status: 200 });
	});

	test.each([...EMPTY, ...BARE])('%s at 200 cannot be read', async (_what, text) => {
		await expect(send(serviceReturning(200, text).client)).rejects.toMatchObject({
			outcome: 'unknown',
			isTransient: true,
			resolution: expect.stringContaining('Nothing was changed'),
		});
	});
});

describe('a response about another record', () => {
	const read = async (name: string, body: object) => {
		const [, send] = [...WRITES, ...READS].find(([one]) => one === name) ?? [];
		const { client, transport } = serviceReturning(200, JSON.stringify(body));
		const result: unknown = await send?.(client).catch((error: unknown) => error);
		expect(transport).toHaveBeenCalledTimes(1);
		return result;
	};

	test.each<[string, object, string]>([
		['GET /v1/call/{id}', { call_id: 'y', status: 'picked' }, 'call'],
		['GET /v1/call/{id}/transcript', { call_id: 'y', transcript: [] }, 'call'],
		['GET /v1/call/{id}/recording', { call_id: 'y', recording_url: 'https://s.example' }, 'call'],
		['GET /v1/campaigns/{id}/status', { campaign: { id: 43 } }, 'campaign'],
		['GET /v1/campaigns/{id}/status', { campaign: { id: '43', status: 'Active' } }, 'campaign'],
	])('%s with %j is not used', async (name, data, kind) => {
		expect(await read(name, { success: true, data })).toMatchObject({
			name: 'OtherRecord',
			outcome: 'unknown',
			isTransient: false,
			message: `The service returned another ${kind} than the requested one`,
			resolution: expect.stringMatching(/^Nothing was changed\. Report this/),
		});
	});

	test.each<[string, object]>([
		['GET /v1/call/{id}', { call_id: 'C', status: 'picked' }],
		['GET /v1/call/{id}', { call_id: null, status: 'picked' }],
		['GET /v1/call/{id}', { status: 'picked' }],
		['GET /v1/campaigns/{id}/status', { campaign: { id: '42' } }],
		['GET /v1/campaigns/{id}/status', { campaign: {} }],
		['GET /v1/campaigns/{id}/status', { uploads: [] }],
	])('%s with %j is', async (name, data) => {
		expect(await read(name, { success: true, data })).toMatchObject({ status: 200 });
	});

	test.each<[string, object]>([
		['POST /v1/chat/session/{id}/inject_context', { session_id: ID, context: [] }],
		['POST /v1/chat/session/{id}/inject_context', { session_id: ID, context: ['start'] }],
		['POST /v1/chat/session/{id}/inject_context', { session_id: ID, context: [7, { x: 1 }] }],
		['POST /v1/chat/session/{id}/inject_context', { session_id: 'other', context: ['x'] }],
		['POST /chat_sessions/{id}/close_session', { session_id: 'other', summary: 'Done' }],
		['POST /chat_sessions/{id}/pause_session', { session_id: 'other', message: 'Paused' }],
		['POST /v1/call', { call_id: 0 }],
		['POST /v1/call', { call_id: '0' }],
		['POST /v1/call', { call_id: true }],
		['POST /v1/call', { call_id: ['c'] }],
		['POST /v1/campaigns/{id}/contacts', { campaign_upload_id: 0 }],
		['POST /v1/campaigns/{id}/contacts', { campaign_upload_id: null, contacts_accepted: -1 }],
		['POST /v1/campaigns/{id}/contacts', { contacts_accepted: {} }],
		['POST /v1/campaigns/{id}/contacts', { contacts_received: 1 }],
	])('%s with %j proves nothing', async (name, data) => {
		expect(await read(name, { success: true, data })).toMatchObject({ name: 'OutcomeUnknown' });
	});

	test.each([{ state: 'down' }, { mode: 'maintenance' }, { message_id: '' }])(
		'%j alone does not prove a chat turn, because gateways write it too',
		async (body) => {
			expect(await read('POST /v1/chat/inbound', body)).toMatchObject({ outcome: 'unknown' });
		},
	);
});

describe('each success check', () => {
	const nested = (levels: number): JsonValue =>
		levels === 0 ? { reply: 'Hi' } : { of: nested(levels - 1) };
	const ofTurn = hasAnyFieldWithin('reply');

	test.each<[string, SuccessCheck, JsonValue, boolean]>([
		['a field', hasAnyField('call_id'), { call_id: 'c' }, true],
		['a field of data', hasAnyField('call_id'), { data: { call_id: 'c' } }, true],
		['an empty list', hasAnyField('transcript'), { transcript: [] }, true],
		['zero', hasAnyField('accepted'), { accepted: 0 }, true],
		['null', hasAnyField('call_id'), { call_id: null }, false],
		['false', hasAnyField('call_id'), { call_id: false }, false],
		['an empty text', hasAnyField('call_id'), { call_id: '' }, false],
		['white space', hasAnyField('call_id'), { call_id: ' ' }, false],
		['a field inside a list', ofTurn, { messages: [{ reply: 'Hi' }] }, true],
		['a field deep down', ofTurn, nested(50), true],
		['an empty field before a filled one', ofTurn, { reply: '', of: { reply: 'Hi' } }, true],
		['a record', hasRecord, { success: true, data: { status: 'picked' } }, true],
		['a record without success', hasRecord, { data: { status: 'picked' } }, false],
		['an empty record', hasRecord, { success: true, data: {} }, false],
		['a list for a record', hasRecord, { success: true, data: ['picked'] }, false],
		['a list', hasAnyValue, [1], true],
		['an empty list without an envelope', hasAnyValue, [], false],
		['an empty list in data', hasAnyValue, { data: [] }, true],
		['something beside success', hasAnyValue, { success: true, calls: [] }, true],
		['the same without success', hasAnyValue, { calls: [] }, false],
		['a text in data', hasAnyValue, { success: true, data: 'ok' }, false],
		['nothing beside success', hasAnyValue, { success: true, calls: null }, false],
	])('%s', (_name, successCheck, body, proves) => {
		expect(successCheck(body)).toBe(proves);
	});
});

describe('a field beside data', () => {
	const record = (body: ApiResponse['body']) => recordOf({ status: 200, body });

	test('never replaces a field of the record', () => {
		const beside = { status: 'ok', id: 'req-1', message: 'Done', meta: { page: 1 } };
		expect(record({ success: true, data: { status: 'picked', id: 7 }, ...beside })).toEqual({
			status: 'picked',
			id: 7,
			message: 'Done',
			meta: { page: 1 },
			envelope: { status: 'ok', id: 'req-1' },
		});
	});

	test('is not a field of the record, unless it is documented', () => {
		const beside = { status: 'ok', id: 9, message: 'Done', warnings: ['slow'] };
		expect(record({ success: true, data: { call_id: 'c' }, ...beside })).toEqual({
			call_id: 'c',
			message: 'Done',
			warnings: ['slow'],
			envelope: { status: 'ok', id: 9 },
		});
		expect(record({ success: true, data: [1], id: 9 })).toEqual({ data: [1], envelope: { id: 9 } });
		const own = { success: true, data: { envelope: 'sent' }, id: 9 };
		expect(record(own)).toEqual({ envelope: 'sent' });
	});

	test('is part of the record if data is null', () => {
		expect(record({ success: true, data: null, message: 'Removed' })).toEqual({
			message: 'Removed',
		});
	});
});
