/** A request that a Service Profile shows, as the service receives it: without a body, unless the profile shows one. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { INodeParameters } from 'n8n-workflow';
import { listen } from '../n8n/ports';
import { realSockets } from './realSockets';

const AGENT = { __rl: true, mode: 'id', value: 'agent_a1' };
const NUMBER = { agentUuid: AGENT, phone: '9876543210' };
const MESSAGE = { sessionId: 'session_1', message: 'Hello' };
const LIST = { query: { agent: '{agent}', phone: '{phone}' } };
const CHAT = { query: { session: '{session}', text: '{message}' } };

const OF_AGENT = { query: { agent: '{agent}' } };
const NUMBERS = '/v1/dnd_numbers?agent=agent_a1&phone=9876543210';
const SESSION = '/v1/chat/session?agent=agent_a1';
const INBOUND = '/v1/chat/inbound?session=session_1&text=Hello';
const INBOUND_ASYNC = '/v1/chat/inbound/async?session=session_1&text=Hello';
const JSON_TYPE = 'application/json';

const run = realSockets();
let server: Server;
let received: Array<Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string }>;
let baseUrl: string;

beforeEach(async () => {
	received = [];
	server = createServer((request, response) => {
		const { method, url, headers } = request;
		let body = '';
		request.setEncoding('utf8').on('data', (part) => (body += String(part)));
		void once(request, 'end').then(() => {
			received.push({ method, url, headers, body });
			response.end('{"success":true,"message":"Done","data":{"session_id":"s","reply":"Hi"}}');
		});
	});
	baseUrl = `http://127.0.0.1:${await listen(server)}`;
});

afterEach(async () => {
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
});

/** What the service receives of the request of a node. */
async function sent(name: string, shown: object, type: string, parameters: INodeParameters) {
	const serviceProfile = JSON.stringify({ [name]: shown });
	const ran = await run(baseUrl, type, parameters, [{ json: {} }], {}, { serviceProfile });
	expect(ran.data.resultData.error).toBeUndefined();
	return received.map(({ method, url, headers, body }) => {
		const { 'content-type': contentType = 'none', 'transfer-encoding': chunks = 'none' } = headers;
		return [`${method} ${url}`, contentType, chunks, body];
	});
}

const REMOVE = { operation: 'remove', ...NUMBER };
const ASYNC = { sendingMethod: 'async', ...MESSAGE };

type Case = [name: string, shown: object, type: string, parameters: INodeParameters, line: string];

it.each<Case>([
	['dnd.add', LIST, 'dnd', { operation: 'add', ...NUMBER }, `POST ${NUMBERS}`],
	['dnd.remove', LIST, 'dnd', REMOVE, `DELETE ${NUMBERS}`],
	['chat.session', OF_AGENT, 'chatSession', { agentUuid: AGENT }, `POST ${SESSION}`],
	['chat.inbound', CHAT, 'chatSend', { ...MESSAGE, sendingMethod: 'inbound' }, `POST ${INBOUND}`],
	['chat.async', CHAT, 'chatSend', ASYNC, `POST ${INBOUND_ASYNC}`],
])(
	'%s has no body and no content type if the profile shows none',
	async (name, shown, type, parameters, line) => {
		expect(await sent(name, shown, type, parameters)).toEqual([[line, 'none', 'none', '']]);
	},
);

it.each<[how: string, name: string, shown: object, parameters: INodeParameters, body: object]>([
	['an empty body', 'dnd.remove', { ...LIST, body: {} }, REMOVE, {}],
	['a body', 'dnd.remove', { ...OF_AGENT, body: { p: '{phone}' } }, REMOVE, { p: NUMBER.phone }],
	[
		'a body of which the node has nothing',
		'dnd.add',
		{ ...LIST, body: { why: '{reason?}' } },
		{ operation: 'add', ...NUMBER },
		{},
	],
])('%s of the profile is sent as JSON', async (_how, name, shown, parameters, body) => {
	const [request] = await sent(name, shown, 'dnd', parameters);
	expect(request?.slice(1)).toEqual([JSON_TYPE, 'none', JSON.stringify(body)]);
});

it('a body in Additional Body Fields, or the documented key, is sent, although the profile shows none', async () => {
	const more = { options: { additionalBodyFields: '{"by":"n8n"}' } };
	expect(await sent('dnd.remove', LIST, 'dnd', { ...REMOVE, ...more })).toEqual([
		[`DELETE ${NUMBERS}`, JSON_TYPE, 'none', '{"by":"n8n"}'],
	]);
	received = [];
	const keyed = { ...ASYNC, options: { idempotencyKey: 'key-1' } };
	expect(await sent('chat.async', CHAT, 'chatSend', keyed)).toEqual([
		[`POST ${INBOUND_ASYNC}`, JSON_TYPE, 'none', '{"idempotency_key":"key-1"}'],
	]);
});
