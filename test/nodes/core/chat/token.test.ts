import { readWsToken, socketUrl } from '../../../../nodes/core/chat/token';
import type { JsonValue } from '../../../../nodes/core/values/json';
import { explainedBy } from '../values/explainedBy';

test.each<JsonValue>([
	{},
	[],
	{ token: '', ws_url: 'wss://h' },
	{ token: 't' },
	{ token: 5, ws_url: 'wss://h' },
])('a response without a token is rejected: %j', (data) => {
	const response = { status: 200, body: { success: true, data } };
	expect(explainedBy(() => readWsToken(response))).toMatchObject({
		resolution: expect.stringMatching(/^In n8n, check 'Base URL'/),
	});
});

const HTTPS = 'https://api.example.com';

function urlFor(wsUrl: string, { baseUrl = HTTPS, claim = false, token = 't 1' } = {}) {
	return socketUrl({
		token: { token, ws_url: wsUrl },
		baseUrl,
		clientId: 'node/a&b',
		claim,
	});
}

describe('socketUrl', () => {
	const added = 'token=t%201&client_id=node%2Fa%26b';

	it.each([
		['no query', 'wss://h/p', `wss://h/p?${added}`],
		['its own query', 'wss://h/p?a=1', `wss://h/p?a=1&${added}`],
		['a query another encoder wrote', 'wss://h/p?a=x+y%2f~', `wss://h/p?a=x+y%2f~&${added}`],
		['a fragment', 'wss://h/p?a=1#top', `wss://h/p?a=1&${added}`],
		['another host than the base URL', 'wss://other.example/p', `wss://other.example/p?${added}`],
	])('keeps the URL as returned: %s', (_name, wsUrl, url) => {
		expect(urlFor(wsUrl)).toBe(url);
	});

	it('adds claim=1 only on request', () => {
		expect(urlFor('wss://h/p', { claim: true })).toBe(`wss://h/p?${added}&claim=1`);
	});

	it.each(['', '/v1/chat', 'https://h/p'])("rejects %j, which isn't a WebSocket URL", (wsUrl) => {
		expect(() => urlFor(wsUrl)).toThrow("that n8n can't use");
	});

	it.each([
		['ws://127.0.0.1:81/p', 'http://localhost:80', true],
		['ws://[::1]/p', 'http://[::1]', true],
		['ws://127.0.0.1/p', HTTPS, false],
		['ws://h/p', HTTPS, false],
		['ws://h/p', 'http://localhost', false],
		['wss://h/p', 'http://localhost', true],
	])('%s with the base URL %s: %s', (wsUrl, baseUrl, isUsable) => {
		const reading = expect(() => urlFor(wsUrl, { baseUrl }));
		if (isUsable) reading.not.toThrow();
		else reading.toThrow("that n8n can't use");
	});
});

it.each([
	['https://user:pw@h:9/p?token=x#y', 'https://h:9/p'],
	['nonsense', 'an unreadable URL'],
])('shows %s as %s', (wsUrl, originalMessage) => {
	expect(explainedBy(() => urlFor(wsUrl))).toMatchObject({ originalMessage });
});
