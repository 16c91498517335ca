import { requestWsToken } from '../../../../nodes/shared/api/endpoints';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import type { ServiceRequest } from '../../../../nodes/shared/api/http';
import { TransportFault } from '../../../../nodes/shared/api/http';
import type { JsonValue } from '../../../../nodes/shared/json';
import { mintToken, type MintResult, TokenCache } from '../../../../nodes/shared/chat/token';
import { chatConnectionHarness, FakeClock, freshToken, tokenFor } from './fakes';
import { clientOf } from '../api/clientOf';

const DATA = { token: 't', ws_url: 'wss://h/p', expires_at: 1_700_000_000, stream: 'user' };

/** A service that returns this response to every request. */
function serviceReturning(
	status: number,
	body: JsonValue | TransportFault,
	seen: ServiceRequest[] = [],
) {
	return clientOf(async (request) => {
		seen.push(request);
		await Promise.resolve();
		if (body instanceof TransportFault) throw body;
		return { status, headers: {}, text: JSON.stringify(body) };
	});
}

const mint = async (status: number, body: JsonValue | TransportFault) =>
	await mintToken(async () => await requestWsToken(serviceReturning(status, body), 's 1'));

describe('mintToken', () => {
	it('requests the stream "user" of the session, with a timeout of 15 seconds', async () => {
		const seen: ServiceRequest[] = [];
		await requestWsToken(serviceReturning(200, { success: true, data: DATA }, seen), 's 1');
		expect(seen).toEqual([
			{
				method: 'POST',
				path: '/v1/chat/session/s%201/ws_token',
				body: { stream: 'user' },
				timeoutMs: 15_000,
			},
		]);
	});

	it('returns the token', async () => {
		expect(await mint(200, { success: true, data: DATA })).toEqual({ kind: 'token', token: DATA });
	});

	it('accepts a token without expires_at and stream', async () => {
		const { token, ws_url } = DATA;
		expect(await mint(200, { success: true, data: { token, ws_url } })).toEqual({
			kind: 'token',
			token: { token, ws_url, expires_at: 0, stream: '' },
		});
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
		const result = await mint(200, { success: true, data });
		expect(result).toMatchObject({ kind: 'rejected' });
	});

	it.each([409, 200, 404, 422])(
		'recognizes a closed session by the body, with status %d',
		async (status) => {
			const body = { success: false, error: 'session_closed', details: null };
			expect((await mint(status, body)).kind).toBe('session_closed');
		},
	);

	it.each([
		['a bad API token', 401, { success: false, error: 'Invalid API token', details: null }],
		["a stream that isn't allowed", 403, { success: false, error: 'no', details: null }],
		['another conflict', 409, { success: false, error: 'something else', details: null }],
	])("isn't retried after %s", async (_name, status, body) => {
		expect((await mint(status, body)).kind).toBe('rejected');
	});

	it.each([
		['429', 429, { success: false, error: 'slow down', details: null }],
		['500', 500, { success: false, error: 'oops', details: null }],
		['no connection', 0, new TransportFault('ECONNREFUSED', 'x', 'connect')],
		['a broken connection', 0, new TransportFault('ECONNRESET', 'x')],
	])('can be retried after %s', async (_name, status, body) => {
		expect((await mint(status, body)).kind).toBe('unreachable');
	});

	it('does not ask again when the credential is incomplete', async () => {
		const error = new InvalidInput(
			"'Base URL' in the credential is empty",
			forEveryone('Enter it.'),
		);
		const result = await mintToken(async () => {
			throw error;
		});
		expect(result).toEqual({ kind: 'rejected', error });
	});

	it('reports a failing connection if only the last token request failed', async () => {
		const fault = new TransportFault('ECONNRESET', 'x');
		const { connection, endings } = chatConnectionHarness({
			mintToken: async () => await mint(0, fault),
			reconnectAttempts: 0,
		});
		await connection.start().ready();
		expect(endings[0]).toMatchObject({
			kind: 'unreachable',
			message: 'The connection to the chat session keeps failing',
			originalMessage: 'ECONNRESET',
		});
	});

	it('uses the message of the error table in the ending', async () => {
		const body = { success: false, error: 'Invalid API token', details: null };
		const { connection, endings } = chatConnectionHarness({
			mintToken: async () => await mint(401, body),
		});
		await connection.start().ready();
		expect(endings[0]).toMatchObject({
			kind: 'mint_rejected',
			message: 'The service rejected the API token',
			originalMessage: 'Invalid API token',
		});
		expect(endings[0]?.resolution).toContain("In 'API Token'");
	});
});

describe('TokenCache', () => {
	function tokenCache(
		mint: (n: number, clock: FakeClock) => Promise<MintResult> = freshToken,
		random = 0.5,
	) {
		const clock = new FakeClock();
		let mints = 0;
		const tokens = new TokenCache(
			async () => {
				mints += 1;
				return await mint(mints, clock);
			},
			clock,
			() => random,
		);
		return { clock, tokens, mints: () => mints };
	}

	it("returns the same token while it's valid", async () => {
		const { clock, tokens, mints } = tokenCache();
		const first = await tokens.current();
		await clock.advance(280_000);
		expect(await tokens.current()).toEqual(first);
		await clock.advance(10_000);
		expect(await tokens.current()).not.toEqual(first);
		expect(mints()).toBe(2);
	});

	it.each([
		[0, 240_000],
		[0.5, 255_000],
		[1, 270_000],
	])('is renewed after 4 to 4.5 minutes (random %d: %d ms)', async (random, due) => {
		const { clock, tokens } = tokenCache(freshToken, random);
		await tokens.current();
		expect(tokens.renewAt - clock.elapsed()).toBe(due);
	});

	it.each([
		['a short lifetime counts', 60, 51_000],
		['a lifetime of 1 second may mean that the clock here is ahead', 1, 30_000],
		['a long lifetime is capped at the documented 5 minutes', 3_600, 255_000],
		['an expired lifetime means a wrong clock here', -600, 255_000],
		['no expiry time', NaN, 255_000],
	])('%s', async (_name, seconds, due) => {
		const { clock, tokens } = tokenCache(tokenFor(seconds));
		await tokens.current();
		expect(tokens.renewAt - clock.elapsed()).toBeCloseTo(due, 0);
	});

	it('mints once for concurrent calls', async () => {
		const { tokens, mints } = tokenCache();
		const [one, two] = await Promise.all([tokens.current(), tokens.renew()]);
		expect(one).toEqual(two);
		expect(mints()).toBe(1);
	});

	it('keeps the old token if a renewal fails, and retries after 30 seconds', async () => {
		const { clock, tokens } = tokenCache(async (n, time) =>
			n === 2 ? { kind: 'unreachable', error: null } : await freshToken(n, time),
		);
		const first = await tokens.current();
		await tokens.renew();
		expect(await tokens.current()).toEqual(first);
		expect(tokens.renewAt - clock.elapsed()).toBe(30_000);
	});

	it('treats an error in the request as unreachable', async () => {
		const error = new Error('down');
		const { tokens } = tokenCache(async () => await Promise.reject(error));
		expect(await tokens.current()).toEqual({ kind: 'unreachable', error });
	});

	it('discards a rejected token', async () => {
		const { tokens, mints } = tokenCache();
		await tokens.current();
		tokens.discard();
		await tokens.current();
		expect(mints()).toBe(2);
	});
});
