import { connectionAddress, describeAddress } from '../../../../nodes/shared/chat/address';

const HTTPS = 'https://api.example.com';

function address(wsUrl: string, { baseUrl = HTTPS, claim = false, token = 't 1' } = {}) {
	return connectionAddress({
		token: { token, ws_url: wsUrl, expires_at: 0, stream: 'user' },
		baseUrl,
		clientId: 'node/a&b',
		claim,
	});
}

describe('connectionAddress', () => {
	const added = 'token=t%201&client_id=node%2Fa%26b';

	it.each([
		['no query', 'wss://h/p', `wss://h/p?${added}`],
		['its own query', 'wss://h/p?a=1', `wss://h/p?a=1&${added}`],
		['an empty query', 'wss://h/p?', `wss://h/p?${added}`],
		['a query ending in &', 'wss://h/p?a=1&', `wss://h/p?a=1&${added}`],
		['a query ending in ?', 'wss://h/p?next=/a?', `wss://h/p?next=/a?&${added}`],
		['a query another encoder wrote', 'wss://h/p?a=x+y%2f~', `wss://h/p?a=x+y%2f~&${added}`],
		['a fragment', 'wss://h/p?a=1#top', `wss://h/p?a=1&${added}`],
		['capital letters', 'WSS://H/P', `WSS://H/P?${added}`],
		['another host than the base URL', 'wss://other.example/p', `wss://other.example/p?${added}`],
	])('keeps the address as returned: %s', (_name, wsUrl, url) => {
		expect(address(wsUrl)).toEqual({ kind: 'address', url });
	});

	it('adds claim=1 only when asked', () => {
		expect(address('wss://h/p', { claim: true })).toEqual({
			kind: 'address',
			url: `wss://h/p?${added}&claim=1`,
		});
	});

	it.each(['', 'nonsense', '/v1/chat', 'https://h/p', 'http://localhost/p', 'file:///etc/hosts'])(
		'rejects %j, which is no WebSocket address',
		(wsUrl) => {
			expect(address(wsUrl)).toEqual({ kind: 'unusable', why: 'not_a_websocket' });
		},
	);

	it.each([
		['ws://127.0.0.1:81/p', 'http://localhost:80', 'address'],
		['ws://localhost/p', 'http://127.0.0.1:80', 'address'],
		['ws://[::1]/p', 'http://[::1]', 'address'],
		['ws://127.0.0.1/p', HTTPS, 'unusable'],
		['ws://127.0.0.1/p', 'https://localhost', 'unusable'],
		['ws://h/p', HTTPS, 'unusable'],
		['ws://h/p', 'http://localhost', 'unusable'],
		['ws://127.0.0.1/p', 'not a url', 'unusable'],
		['wss://h/p', 'http://localhost', 'address'],
	])('%s with the base URL %s: %s', (wsUrl, baseUrl, kind) => {
		expect(address(wsUrl, { baseUrl }).kind).toBe(kind);
	});
});

describe('what is shown of an address', () => {
	it.each([
		['wss://user:pw@h:9/p?token=x#y', 'wss://h:9/p'],
		['nonsense', 'an unreadable address'],
	])('%s is shown as %s', (wsUrl, shown) => {
		expect(describeAddress(wsUrl)).toBe(shown);
	});
});
