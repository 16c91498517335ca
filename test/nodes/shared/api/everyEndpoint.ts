import type { ApiClient } from '../../../../nodes/shared/api/client';
import * as endpoints from '../../../../nodes/shared/api/endpoints';
import type { ApiResponse } from '../../../../nodes/shared/api/http';
import type { JsonObject, JsonValue } from '../../../../nodes/shared/json';

export const SESSION_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const CALL_ID = '6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00';
export const CAMPAIGN_ID = 42;

const agent = { agent_uuid: 'agent_a' };
const call = { ...agent, country_code: 'IN', phone_number: '9876543210' };
const legacy = { ...agent, chat_session_id: SESSION_ID, message: 'Hello' };
const contact = Buffer.from('{"phone":"9876543210"}');

/** A documented endpoint with a request, a documented response, and other responses that prove success. */
export type Endpoint = {
	name: string;
	send: (client: ApiClient) => Promise<ApiResponse>;
	success: JsonObject;
	alsoProves?: JsonValue[];
};

/** Every endpoint of the document. */
export const ENDPOINTS: readonly Endpoint[] = [
	{
		name: 'POST /v1/call',
		send: async (client) => await endpoints.placeCall(client, () => call),
		success: { success: true, data: { call_id: CALL_ID } },
		alsoProves: [{ call_id: 'c' }, { success: true, call_id: 'c' }],
	},
	{
		name: 'POST /call',
		send: async (client) => await endpoints.placeCall(client, () => call, { legacy: true }),
		success: { success: true, data: { call_id: CALL_ID } },
	},
	{
		name: 'GET /v1/call/{id}',
		send: async (client) => await endpoints.getCall(client, CALL_ID),
		success: { success: true, data: { call_id: CALL_ID, status: 'picked' } },
		alsoProves: [{ success: true, data: { call_id: CALL_ID.toUpperCase() } }, { call_id: CALL_ID }],
	},
	{
		name: 'GET /v1/call/{id}/transcript',
		send: async (client) => await endpoints.getTranscript(client, CALL_ID),
		success: { success: true, data: { call_id: CALL_ID, transcript: [] } },
		alsoProves: [{ success: true, data: { transcript: [] } }],
	},
	{
		name: 'GET /v1/call/{id}/recording',
		send: async (client) => await endpoints.getRecording(client, CALL_ID),
		success: { success: true, data: { call_id: CALL_ID, recording_url: 'https://x.example/r' } },
		alsoProves: [{ success: true, data: { recording_url: 'https://x.example/r' } }],
	},
	{
		name: 'GET /v1/calls',
		send: async (client) => await endpoints.listCalls(client, { query: {} }),
		success: { success: true, data: [] },
		alsoProves: [{ success: true, data: {} }, { calls: [] }, [{ call_id: 'c' }], []],
	},
	{
		name: 'GET /v1/active_agents',
		send: async (client) => await endpoints.getActiveAgents(client),
		success: { success: true, data: [] },
		alsoProves: [{ data: {} }, { agents: {} }],
	},
	{
		name: 'POST /v1/campaigns/{id}/contacts',
		send: async (client) => await endpoints.pushContacts(client, CAMPAIGN_ID, agent, contact),
		success: { success: true, data: { campaign_upload_id: 7, contacts_accepted: 1 } },
		alsoProves: [
			{ campaign_upload_id: 7 },
			{ success: true, data: { campaign_upload_id: '7' } },
			{ success: true, data: { campaign_upload_id: null, contacts_accepted: 0 } },
			{ success: true, data: { contacts_accepted: '1' } },
		],
	},
	{
		name: 'GET /v1/campaigns/{id}/status',
		send: async (client) => await endpoints.getCampaignStatus(client, CAMPAIGN_ID),
		success: { success: true, data: { campaign: { id: CAMPAIGN_ID }, calls: {}, uploads: [] } },
		alsoProves: [
			{ campaign: { id: CAMPAIGN_ID } },
			{ success: true, data: { campaign: { id: '42' } } },
			{ success: true, data: { campaign: {} } },
			{ success: true, data: { uploads: [] } },
		],
	},
	{
		name: 'POST /v1/dnd_numbers',
		send: async (client) => await endpoints.addDndNumber(client, { body: { phone: '1' } }),
		success: { success: true, data: { id: 1 } },
		alsoProves: [{ success: true }, { success: true, message: 'added' }],
	},
	{
		name: 'GET /v1/dnd_numbers',
		send: async (client) => await endpoints.listDndNumbers(client, {}),
		success: { success: true, data: [], meta: { total_pages: 0 } },
	},
	{
		name: 'DELETE /v1/dnd_numbers',
		send: async (client) => await endpoints.removeDndNumber(client, { query: { phone: '1' } }),
		success: { success: true, message: 'removed' },
	},
	{
		name: 'POST /v1/chat/session',
		send: async (client) => await endpoints.createSession(client, {}),
		success: { success: true, data: { id: SESSION_ID } },
		alsoProves: [{ success: true }],
	},
	{
		name: 'POST /v1/chat/inbound',
		send: async (client) => await endpoints.sendInbound(client, {}),
		success: { success: true, data: { state: 'default', reply: 'Hi' } },
		alsoProves: [
			{ success: true, state: 'default', reply: '' },
			{ success: true, data: { result: [{ turn_id: 't' }] } },
			{ reply: '', turn: { reply: 'Hi' } },
		],
	},
	{
		name: 'POST /v1/chat/inbound/async',
		send: async (client) => await endpoints.sendInboundAsync(client, {}),
		success: { success: true, data: { turn: 't' } },
		alsoProves: [{ success: true }],
	},
	{
		name: 'POST /v1/chat/session/{id}/support',
		send: async (client) =>
			await endpoints.sendSupportCommand(client, SESSION_ID, { command: 'close' }),
		success: { success: true, data: {} },
		alsoProves: [{ success: true }],
	},
	{
		name: 'POST /v1/chat/session/{id}/inject_context',
		send: async (client) =>
			await endpoints.injectContext(client, SESSION_ID, { context: 'Called back' }),
		success: { success: true, data: { session_id: SESSION_ID, context: ['start', 'Called back'] } },
		alsoProves: [
			{ success: true, data: { context: ['start', 'Called back'] } },
			{ success: true, data: { session_id: SESSION_ID, context: ['start', 'Called b…'] } },
			{ success: true, data: { session_id: SESSION_ID, context: ['start', { text: 'Called' }] } },
			{ success: true, data: { session_id: SESSION_ID.toUpperCase() } },
			{ session_id: SESSION_ID, context: ['start', 'Called back'] },
		],
	},
	{
		name: 'POST /v1/chat/session/{id}/ws_token',
		send: async (client) => await endpoints.requestWsToken(client, SESSION_ID),
		success: { success: true, data: { token: 't', ws_url: 'wss://x.example', expires_at: 1 } },
	},
	{
		name: 'POST /chat_sessions',
		send: async (client) => await endpoints.createLegacySession(client, { body: agent }),
		success: { success: true, data: { session_id: SESSION_ID } },
	},
	{
		name: 'POST /chat_messages/send_message',
		send: async (client) => await endpoints.sendLegacyMessage(client, legacy),
		success: { success: true, data: { session_id: SESSION_ID, response: 'Hi' } },
		alsoProves: [{ response: 'Hi' }, { session_id: SESSION_ID.toUpperCase(), response: 'Hi' }],
	},
	{
		name: 'POST /chat_sessions/{id}/close_session',
		send: async (client) => await endpoints.closeLegacySession(client, SESSION_ID, agent),
		success: { success: true, data: { session_id: SESSION_ID, summary: '' } },
	},
	{
		name: 'POST /chat_sessions/{id}/pause_session',
		send: async (client) => await endpoints.pauseLegacySession(client, SESSION_ID, agent),
		success: { success: true, data: { session_id: SESSION_ID, message: 'Paused' } },
		alsoProves: [
			{ success: true, data: { session_id: SESSION_ID } },
			{ success: true, message: 'Paused' },
		],
	},
];
