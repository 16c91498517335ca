import { requestWsToken } from '../../../../nodes/shared/api/endpoints';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import type { ServiceRequest } from '../../../../nodes/shared/api/http';
import { TransportFault } from '../../../../nodes/shared/api/http';
import type { JsonValue } from '../../../../nodes/shared/json';
import { mintToken, withRenewal } from '../../../../nodes/shared/chat/token';
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

	it('returns the token, also without expires_at and stream', async () => {
		const { token, ws_url } = DATA;
		const unknown = { token, ws_url, expires_at: 0, stream: '' };
		expect(await mint(200, { success: true, data: DATA })).toEqual({ kind: 'token', token: DATA });
		expect(await mint(200, { success: true, data: { token, ws_url } })).toEqual({
			kind: 'token',
			token: unknown,
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

	it.each<[string, string, number, JsonValue | TransportFault]>([
		...[409, 200, 404].map((status): [string, string, number, JsonValue] => [
			'session_closed',
			`a closed session with status ${status}, by the body`,
			status,
			{ success: false, error: 'session_closed', details: null },
		]),
		['rejected', 'a bad API token', 401, { success: false, error: 'Invalid API token' }],
		['rejected', "a stream that isn't allowed", 403, { success: false, error: 'no' }],
		['rejected', 'another conflict', 409, { success: false, error: 'something else' }],
		['unreachable', '429', 429, { success: false, error: 'slow down' }],
		['unreachable', '500', 500, { success: false, error: 'oops' }],
		['unreachable', 'no connection', 0, new TransportFault('ECONNREFUSED', 'x', 'connect')],
		['unreachable', 'a broken connection', 0, new TransportFault('ECONNRESET', 'x')],
	])('%s: %s', async (kind, _case, status, body) => {
		expect((await mint(status, body)).kind).toBe(kind);
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
});

describe('a token is renewed after at least 70 % of its lifetime', () => {
	it.each([
		['by expires_at', 60, 42_000],
		['at least 30 seconds, because the clock here may be ahead', 1, 30_000],
		['at most the documented 5 minutes', 3_600, 210_000],
		['the documented 5 minutes if it has expired, because the clock here is wrong', -600, 210_000],
		['the documented 5 minutes without an expiry time', NaN, 210_000],
	])('%s', (_name, seconds, ms) => {
		const now = 1_700_000_000_000;
		const token = { ...DATA, expires_at: now / 1_000 + seconds };
		expect(withRenewal(token, 7_000, now, 0)).toEqual({ ...token, renewAt: 7_000 + ms });
	});
});
