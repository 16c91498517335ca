import { requestWsToken } from '../../../../nodes/shared/api/endpoints';
import { ExplainedError } from '../../../../nodes/shared/api/errors';
import type { ServiceRequest } from '../../../../nodes/shared/api/http';
import type { JsonValue } from '../../../../nodes/shared/json';
import { readWsToken, socketUrl, withRenewal } from '../../../../nodes/shared/chat/token';
import { clientOf } from '../api/clientOf';
import { explainedBy } from '../explainedBy';

const DATA = { token: 't', ws_url: 'wss://h/p', expires_at: 1_700_000_000 };

/** A service that returns this response to every request. */
function serviceReturning(status: number, body: JsonValue, seen: ServiceRequest[] = []) {
	return clientOf(async (request) => {
		seen.push(request);
		return await Promise.resolve({ status, headers: {}, text: JSON.stringify(body) });
	});
}

const mint = async (data: JsonValue) => {
	const client = serviceReturning(200, { success: true, data });
	return readWsToken(await requestWsToken(client, 's 1'));
};

describe('a token request', () => {
	it('is for the stream "user" of the session, with a timeout of 15 seconds', async () => {
		const seen: ServiceRequest[] = [];
		await requestWsToken(serviceReturning(200, { success: true, data: DATA }, seen), 's 1');
		expect(seen).toEqual([
			{
				method: 'POST',
				path: '/v1/chat/session/s%201/ws_token',
				body: { stream: 'user' },
				timeoutMs: 15_000,
				changesNothing: true,
			},
		]);
	});

	it('returns the token, also without expires_at', async () => {
		const { expires_at, ...others } = DATA;
		expect(await mint({ ...DATA, stream: 'user' })).toEqual({ ...others, expires_at });
		expect(await mint(others)).toEqual({ ...others, expires_at: 0 });
	});

	it.each([
		[{}],
		[[]],
		['text'],
		[{ token: '', ws_url: 'wss://h' }],
		[{ token: 't' }],
		[{ token: 5, ws_url: 'wss://h' }],
		[{ token: 'half of a pair: \ud83d', ws_url: 'wss://h' }],
	])('rejects a response without a token: %j', async (data) => {
		const error: unknown = await mint(data).catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(ExplainedError);
		expect(error).toHaveProperty('resolution', expect.stringMatching(/^Check 'Base URL'/));
	});
});

describe('a token is renewed after at least 70 % of its lifetime', () => {
	it.each([
		['by expires_at', 60, 42_000],
		['at least 30 seconds, because the clock here may be ahead', 1, 30_000],
		['at most the documented 5 minutes', 3_600, 210_000],
		['the documented 5 minutes if it has expired, because the clock here is wrong', -600, 210_000],
		['the documented 5 minutes if it expires at this moment', 0, 210_000],
		['the documented 5 minutes without an expiry time', NaN, 210_000],
	])('%s', (_name, seconds, ms) => {
		const now = 1_700_000_000_000;
		const token = { ...DATA, expires_at: now / 1_000 + seconds };
		expect(withRenewal(token, 7_000, now, 0)).toEqual({ ...token, renewAt: 7_000 + ms });
	});
});

const HTTPS = 'https://api.example.com';

function urlFor(wsUrl: string, { baseUrl = HTTPS, claim = false, token = 't 1' } = {}) {
	return socketUrl({
		token: { token, ws_url: wsUrl, expires_at: 0 },
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
		['a query ending in ?', 'wss://h/p?next=/a?', `wss://h/p?next=/a?&${added}`],
		['a query another encoder wrote', 'wss://h/p?a=x+y%2f~', `wss://h/p?a=x+y%2f~&${added}`],
		['a fragment', 'wss://h/p?a=1#top', `wss://h/p?a=1&${added}`],
		['capital letters', 'WSS://H/P', `WSS://H/P?${added}`],
		['another host than the base URL', 'wss://other.example/p', `wss://other.example/p?${added}`],
	])('keeps the URL as returned: %s', (_name, wsUrl, url) => {
		expect(urlFor(wsUrl)).toBe(url);
	});

	it('adds claim=1 only on request', () => {
		expect(urlFor('wss://h/p', { claim: true })).toBe(`wss://h/p?${added}&claim=1`);
	});

	it.each(['', 'nonsense', '/v1/chat', 'https://h/p', 'http://localhost/p', 'file:///etc/hosts'])(
		"rejects %j, which isn't a WebSocket URL",
		(wsUrl) => {
			expect(() => urlFor(wsUrl)).toThrow("that n8n can't use");
		},
	);

	it.each([
		['ws://127.0.0.1:81/p', 'http://localhost:80', true],
		['ws://localhost/p', 'http://127.0.0.1:80', true],
		['ws://[::1]/p', 'http://[::1]', true],
		['ws://127.0.0.1/p', HTTPS, false],
		['ws://127.0.0.1/p', 'https://localhost', false],
		['ws://h/p', HTTPS, false],
		['ws://h/p', 'http://localhost', false],
		['ws://127.0.0.1/p', 'not a url', false],
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
