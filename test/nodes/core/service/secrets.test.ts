import { inspect } from 'node:util';
import type { HttpResponse } from '../../../../nodes/core/service/http';
import { withoutSecret } from '../../../../nodes/core/service/secrets';
import type { ApiClient } from '../../../../nodes/core/service/client';
import * as endpoints from '../../../../nodes/core/service/endpoints';
import { clientOf } from './clientOf';

const TOKEN = 'aB3"/d\\9+e&x<%=z';
const WS_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzIjoiMSJ9.c2lnbmF0dXJl';
const URL = 'https://storage.example.com/a.wav?X-Signature=0123456789abcdef';

const call = { agent_uuid: 'a', country_code: 'IN', phone_number: '1' };

/** A service that returns these responses in order. */
function clientReturning(...responses: Array<Partial<HttpResponse>>): ApiClient {
	const transport = async () =>
		await Promise.resolve({ status: 200, headers: {}, text: '', ...responses.shift() });
	return clientOf(transport, TOKEN);
}

/** Everything that a result or an error shows. */
async function seen(asking: Promise<unknown>): Promise<string> {
	return await asking.then(
		(response) => inspect(response, { depth: Infinity }),
		(error: unknown) => inspect(error, { depth: Infinity, showHidden: true }),
	);
}

const WRITTEN: Array<[string, string]> = [
	['as it is', TOKEN],
	['URL-encoded', encodeURIComponent(TOKEN)],
];

describe.each(WRITTEN)('the API token %s', (_way, token) => {
	const inJson = (body: unknown) => JSON.stringify(body);

	test.each<[string, number, string]>([
		['a rejection', 400, inJson({ success: false, error: `Token ${token} is wrong` })],
		['the details', 400, inJson({ success: false, error: 'No', details: { sent: { k: token } } })],
		['a page', 403, `<html>Header API-Token: ${token}</html>`],
		['a failing service', 500, inJson({ success: false, error: token })],
		['half a response', 200, `{"success":true,"token":"${token}`],
		['a success', 200, inJson({ success: true, data: { call_id: 'c', echo: [{ a: token }] } })],
	])('is hidden in %s', async (_place, status, text) => {
		const client = clientReturning({ status, text });
		const shown = await seen(endpoints.placeCall(client, () => call));
		expect(shown).toContain('[hidden]');
		for (const [, written] of WRITTEN) {
			expect(shown).not.toContain(written);
			expect(shown).not.toContain(inspect(written).slice(1, -1));
		}
	});
});

test.each<[string, string, string]>([
	['as it is', TOKEN, TOKEN],
	['URL-encoded', encodeURIComponent(TOKEN), TOKEN],
	['as a JSON text', JSON.stringify(TOKEN).slice(1, -1), TOKEN],
	['with a space, URL-encoded', 'secret%201', 'secret 1'],
])('a secret %s is hidden completely', (_way, written, secret) => {
	expect(withoutSecret(`key ${written}, and more`, secret)).toBe('key [hidden], and more');
});

test.each([
	['slashes as PHP writes them', String.raw`{"e":"aB3\/xY9+kLm0"}`],
	['codes as .NET and Go write them', String.raw`{"e":"aB3/xY9\u002bkLm0"}`],
	['a URL with codes in lower case', '{"e":"aB3%2fxY9%2bkLm0"}'],
])('a secret in JSON with %s is hidden completely', (_what, text) => {
	expect(withoutSecret(text, 'aB3/xY9+kLm0')).toBe('{"e":"[hidden]"}');
});

test('a short word is no secret', () => {
	expect(withoutSecret('bad token 1', 'token 1')).toBe('bad token 1');
});

test('a response without a secret stays unchanged, including its numbers', async () => {
	const text = '{"success":true,"data":{"call_id":"c","a":"\\u0041 % &#65; \\"x\\""}}';
	expect(await endpoints.placeCall(clientReturning({ text }), () => call)).toEqual({
		status: 200,
		body: { success: true, data: { call_id: 'c', a: 'A % &#65; "x"' } },
	});
});

describe.each<[string, (client: ApiClient) => Promise<unknown>, object, string]>([
	[
		'a WebSocket token',
		async (client) => await endpoints.mintWsToken(client, 's'),
		{ token: WS_TOKEN, ws_url: 'wss://chat.example.com/s', expires_at: 1 },
		WS_TOKEN.slice(0, 12),
	],
	[
		'the URL of a recording',
		async (client) => await endpoints.getRecording(client, 'c'),
		{ call_id: 'c', recording_url: URL, expires_in_seconds: 900 },
		'Signature',
	],
])('%s', (_what, request, data, secret) => {
	const text = JSON.stringify({ success: true, data });

	test('is returned if it was requested, also if the service returns it again', async () => {
		const client = clientReturning({ text }, { text });
		expect([await request(client), await request(client)]).toMatchObject([
			{ body: { data } },
			{ body: { data } },
		]);
	});

	test.each<[string, number, string]>([
		['a truncated response', 200, text.slice(0, -3)],
		['a response of a failing service', 503, text],
		[
			'a rejection that contains it',
			400,
			JSON.stringify({ success: false, error: `${WS_TOKEN} or ${URL} has expired`, data }),
		],
		['a page', 403, `<html>${WS_TOKEN} ${URL}</html>`],
		['no JSON at all', 200, `token=${WS_TOKEN}&url=${URL}`],
	])('is hidden in %s', async (_where, status, body) => {
		const responses = [1, 2, 3, 4].map(() => ({ status, text: body }));
		const shown = await seen(request(clientReturning(...responses)));
		expect(shown).toMatch(/ServiceRejection|OutcomeUnknown/);
		expect(shown).not.toContain(secret);
		expect(shown).not.toMatch(/HTTP status \d+ · /);
	});
});
