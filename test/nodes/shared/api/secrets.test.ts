import { inspect } from 'node:util';
import fc from 'fast-check';
import type { HttpResponse } from '../../../../nodes/shared/api/http';
import { Secrets, withoutOwnSecrets, withoutSecrets } from '../../../../nodes/shared/api/secrets';
import type { ApiClient } from '../../../../nodes/shared/api/client';
import * as endpoints from '../../../../nodes/shared/api/endpoints';
import { excessOf } from '../../../growth/growth';
import { clientOf } from './clientOf';

const TOKEN = 'aB3"/d\\9+e&x<%=z';
const WS_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzIjoiMSJ9.c2lnbmF0dXJl';
const URL = 'https://storage.example.com/a.wav?X-Signature=0123456789abcdef';

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

const each = (write: (char: string) => string) => [...TOKEN].map(write).join('');
const code = (char: string) => char.charCodeAt(0);
const WRITTEN: Array<[string, string]> = [
	['as it is', TOKEN],
	['in small letters', TOKEN.toLowerCase()],
	['as a JSON text', JSON.stringify(TOKEN).slice(1, -1)],
	['percent-encoded', encodeURIComponent(TOKEN)],
	['percent-encoded throughout', each((char) => `%${code(char).toString(16)}`)],
	['escaped throughout', each((char) => `\\u00${code(char).toString(16)}`)],
	['as decimal entities', each((char) => `&#${code(char)};`)],
	['as hexadecimal entities', each((char) => `&#x${code(char).toString(16).toUpperCase()};`)],
	['percent-encoded twice', encodeURIComponent(encodeURIComponent(TOKEN))],
	['percent-encoded throughout, twice', each((char) => `%25${code(char).toString(16)}`)],
	['as a JSON text in a JSON text', JSON.stringify(JSON.stringify(TOKEN)).slice(3, -3)],
	['as entities of entities', each((char) => `&amp;#${code(char)};`)],
	['escaped as nginx does in its logs', each((char) => `\\x${code(char).toString(16)}`)],
	['in hexadecimal', Buffer.from(TOKEN).toString('hex')],
	['in large hexadecimal', Buffer.from(TOKEN).toString('hex').toUpperCase()],
	['as bytes with colons', each((char) => `${code(char).toString(16)}:`).slice(0, -1)],
	['in base64', Buffer.from(TOKEN).toString('base64')],
	['in base64 for URLs', Buffer.from(TOKEN).toString('base64url')],
	['half escaped', `${TOKEN.slice(0, 5)}${encodeURIComponent(TOKEN.slice(5))}`],
];

describe.each(WRITTEN)('the API token %s', (_way, token) => {
	const inJson = (body: unknown) => JSON.stringify(body);

	test.each<[string, number, string]>([
		['a rejection', 400, inJson({ success: false, error: `Token ${token} is wrong` })],
		['a list of rejections', 422, inJson({ success: false, errors: ['No', `key=${token}`] })],
		['the details', 400, inJson({ success: false, error: 'No', details: { sent: { k: token } } })],
		['a name', 400, inJson({ success: false, error: 'No', details: { [token]: 1 } })],
		['a page', 403, `<html>Header API-Token: ${token}</html>`],
		['a failing service', 500, inJson({ success: false, error: token })],
		['another response', 200, inJson({ echo: token })],
		['half a response', 200, `{"success":true,"token":"${token}`],
		['a success', 200, inJson({ success: true, data: { call_id: 'c', echo: [{ a: token }] } })],
		['a plain text', 502, token],
	])('is hidden in %s', async (_place, status, text) => {
		const client = clientReturning({ status, text });
		const shown = await seen(
			endpoints.placeCall(client, { agent_uuid: 'a', country_code: 'IN', phone_number: '1' }),
		);
		expect(shown).toContain('[hidden]');
		for (const [, written] of WRITTEN) {
			expect(shown).not.toContain(written);
			expect(shown).not.toContain(inspect(written).slice(1, -1));
		}
	});
});

test.each(WRITTEN)('the API token %s is hidden completely', (_way, token) => {
	expect(new Secrets(TOKEN).hide(`key ${token}, and more`)).toBe('key [hidden], and more');
});

test.each(['1234567890123456', '0.12345678901234'])(
	'the token %s is hidden if it is a number',
	(token) => {
		const secrets = new Secrets(token);
		const shown = secrets.hide(`{"a":[${token}],"b":{"c":${token}},"d":12345}`);
		expect(shown).toContain('[hidden]');
		expect(shown).not.toContain(token.slice(0, 8));
		expect(shown).toContain('"d":12345');
	},
);

/** Characters that a header can have, without those of the text around the token. */
const anyToken = fc.string({
	unit: fc.integer({ min: 0x21, max: 0x74 }).map((at) => String.fromCharCode(at)),
	minLength: 16,
	maxLength: 16,
});
const anyText = fc.string({ unit: fc.constantFrom('u', 'v', '~', 'é', '😀'), maxLength: 20 });
const TEXTS_WITH_IT: Array<[string, (text: string) => string]> = [
	['in base64, as Basic authentication is', (text) => Buffer.from(text).toString('base64')],
	['in base64 for URLs', (text) => Buffer.from(text).toString('base64url')],
	['in base64 in a query', (text) => encodeURIComponent(Buffer.from(text).toString('base64'))],
	[
		'in base64 on short lines',
		(text) =>
			Buffer.from(text)
				.toString('base64')
				.replace(/(.{7})/g, '$1\r\n'),
	],
	[
		'in base64 on short lines, in JSON in JSON',
		(text) => {
			const lines = Buffer.from(text)
				.toString('base64')
				.replace(/(.{7})/g, '$1\n');
			return JSON.stringify(JSON.stringify(lines));
		},
	],
	['in hexadecimal', (text) => Buffer.from(text).toString('hex')],
	['percent-encoded', encodeURIComponent],
	['percent-encoded twice', (text) => encodeURIComponent(encodeURIComponent(text))],
	['percent-encoded three times', (text) => [1, 2, 3].reduce(encodeURIComponent, text)],
];

test.each(TEXTS_WITH_IT)('any token in any text %s is hidden completely', (_way, write) => {
	fc.assert(
		fc.property(anyToken, anyText, anyText, (token, before, after) => {
			const encoded = write(`${before}${token}${after}`);
			const shown = new Secrets(token).hide(encoded);
			expect(shown).toContain('[hidden]');
			// The position of the token in the encoded text, without characters that it shares with its neighbors.
			const start = write(before).length;
			for (let at = start; at < start + 8; at++) {
				expect(shown).not.toContain(encoded.slice(at, at + 8));
			}
		}),
		{ numRuns: 300 },
	);
});

test.each([
	['alone', (digits: string) => digits],
	['in an object', (digits: string) => `{"echo":${digits}}`],
	['in a list beside other escapes', (digits: string) => `["\\u0041",${digits}]`],
])('a token whose hexadecimal form has only digits, as a number %s, is hidden', (_where, write) => {
	const digits = Buffer.from('!1'.repeat(8)).toString('hex');
	expect(digits).toMatch(/^\d+$/);
	const shown = new Secrets('!1'.repeat(8)).hide(write(digits));
	expect(shown).toContain('[hidden]');
	expect(shown).not.toMatch(/2\.?13/);
});

test.each(TEXTS_WITH_IT)('a text without the token, %s, stays unchanged', (_way, write) => {
	fc.assert(
		fc.property(anyToken, fc.string(), (token, text) => {
			fc.pre(!text.includes(token.slice(0, 8)));
			expect(new Secrets(token).hide(write(text))).toBe(write(text));
		}),
	);
});

test.each([0, 1, 2])('the start of a token in base64, after %i bytes, is hidden', (bytes) => {
	const whole = Buffer.from(`${'u'.repeat(bytes)}${TOKEN}`).toString('base64');
	for (let length = 15; length < whole.length; length++) {
		expect(new Secrets(TOKEN).hide(`key ${whole.slice(0, length)}`)).toMatch(
			/^key \w{0,2}\[hidden\]$/,
		);
	}
});

test.each([
	['plain', 'a "b" {c} \u{1f600}', 'a "b" {c} \u{1f600}'],
	['percent-encoded', 'a+b/c=d?efgh', encodeURIComponent('a+b/c=d?efgh')],
	// This has no percent-encoded form.
	['with half a character', 'abc\ud800defgh', 'abc\ud800defgh'],
])('a token %s is hidden', (_way, token, written) => {
	expect(new Secrets(token).hide(`token ${written}, and more`)).toBe('token [hidden], and more');
});

describe('the start of a token', () => {
	const call = { agent_uuid: 'a', country_code: 'IN', phone_number: '1' };

	test.each<[string, number, (shown: string) => string]>([
		['of a response that broke off', 200, (shown) => `{"success":true,"echo":"key ${shown}`],
		['of a page that broke off', 403, (shown) => `<html>key ${encodeURIComponent(shown)}`],
		['of a rejection', 400, (error) => JSON.stringify({ success: false, error: `key ${error}…` })],
		['in a sentence', 400, (x) => JSON.stringify({ success: false, error: `key ${x}... is bad` })],
	])('is hidden at the end %s', async (_where, status, write) => {
		for (let length = 8; length < TOKEN.length; length += 1) {
			const text = write(TOKEN.slice(0, length));
			const shown = await seen(endpoints.placeCall(clientReturning({ status, text }), call));
			expect(shown).toContain('key [hidden]');
			expect(shown).not.toContain(inspect(TOKEN.slice(0, 6)).slice(1, -1));
			expect(shown).not.toContain(encodeURIComponent(TOKEN.slice(0, 6)));
		}
	});

	test.each(['', '…', '..."'])(
		'of a socket is hidden at the end of a truncated text: %j',
		(dots) => {
			const secret = 'a-socket/s+token';
			for (let length = 8; length < secret.length; length += 1) {
				for (const write of [String, encodeURIComponent]) {
					const reason = `it is ${write(secret.slice(0, length))}${dots}`;
					expect(withoutSecrets(reason, [WS_TOKEN, secret])).toBe(`it is [hidden]${dots}`);
				}
			}
		},
	);

	test('of a socket is not hidden at the end of a complete text', () => {
		const frame = JSON.stringify({ content: WS_TOKEN.slice(0, 8) });
		expect(withoutSecrets(frame, [WS_TOKEN])).toBe(frame);
	});
});

test('a response without a secret stays unchanged, including its numbers', async () => {
	const text = '{"success":true,"data":{"call_id":"c","a":"\\u0041 % &#65; \\"x\\""}}';
	const call = { agent_uuid: 'a', country_code: 'IN', phone_number: '1' };
	expect(await endpoints.placeCall(clientReturning({ text }), call)).toEqual({
		status: 200,
		body: { success: true, data: { call_id: 'c', a: 'A % &#65; "x"' } },
	});
});

describe('a WebSocket token', () => {
	const data = { token: WS_TOKEN, ws_url: 'wss://chat.example.com/s', expires_at: 1 };
	const given = JSON.stringify({ success: true, data });

	test('is available to the socket, also if the service returns it again', async () => {
		const client = clientReturning({ text: given }, { text: given });
		const first = await endpoints.requestWsToken(client, 's');
		const second = await endpoints.requestWsToken(client, 's');
		expect([first, second]).toMatchObject([{ body: { data } }, { body: { data } }]);
	});

	test.each<[string, number, string]>([
		['a truncated response', 200, given.slice(0, -30)],
		['a response of a failing service', 500, given],
		[
			'a rejection that contains it',
			400,
			JSON.stringify({ success: false, error: `${WS_TOKEN} is in use`, data }),
		],
		['a page', 403, `<html>${WS_TOKEN}</html>`],
		['no JSON at all', 200, `token=${WS_TOKEN}`],
	])('is hidden in %s', async (_what, status, text) => {
		const shown = await seen(endpoints.requestWsToken(clientReturning({ status, text }), 's'));
		expect(shown).toMatch(/ServiceRejection|OutcomeUnknown/);
		expect(shown).not.toContain(WS_TOKEN.slice(0, 12));
	});

	test.each<[string, (token: string) => string]>([
		['as it is', (token) => token],
		['percent-encoded', encodeURIComponent],
	])('that the service repeats %s in a later response is hidden', async (_way, write) => {
		const echo = JSON.stringify({ success: true, data: { context: [`token ${write(WS_TOKEN)}`] } });
		const client = clientReturning({ text: given }, { text: echo });
		await endpoints.requestWsToken(client, 's');
		const shown = await seen(endpoints.injectContext(client, 's', { context: 'x' }));
		expect(shown).toContain('token [hidden]');
	});
});

describe.each([
	['a WebSocket token', WS_TOKEN],
	['the link of a recording', URL],
	['a token of any characters', 'aB3"/d\\9+e&x<%=zé'],
])('%s of an earlier response', (_what, secret) => {
	const ofSecret = (write: (char: string) => string) => [...secret].map(write).join('');
	const ways: Array<[string, string]> = [
		['as it is', secret],
		['as a JSON text', JSON.stringify(secret).slice(1, -1)],
		[
			'as a JSON text with escaped slashes',
			JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
		],
		['as a JSON text in a JSON text', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
		['percent-encoded', encodeURIComponent(secret)],
		['percent-encoded twice', encodeURIComponent(encodeURIComponent(secret))],
		[
			'percent-encoded throughout',
			[...Buffer.from(secret)].map((byte) => `%${byte.toString(16)}`).join(''),
		],
		['escaped throughout', ofSecret((char) => `\\u${code(char).toString(16).padStart(4, '0')}`)],
		['as entities', ofSecret((char) => `&#${code(char)};`)],
		['as entities of entities', ofSecret((char) => `&amp;#x${code(char).toString(16)};`)],
		['in hexadecimal', Buffer.from(secret).toString('hex')],
		[
			'as bytes with colons',
			[...Buffer.from(secret)].map((byte) => byte.toString(16).padStart(2, '0')).join(':'),
		],
		['in base64', Buffer.from(secret).toString('base64')],
		['in base64 of a longer text', Buffer.from(`user:${secret}!`).toString('base64')],
		['in base64 for URLs', Buffer.from(secret).toString('base64url')],
		['in base64 in a query', encodeURIComponent(Buffer.from(`k=${secret}`).toString('base64'))],
		[
			'in base64 on lines',
			Buffer.from(secret)
				.toString('base64')
				.replace(/(.{16})/g, '$1\r\n'),
		],
	];

	test.each(ways)('is hidden %s', (_way, written) => {
		for (const text of [
			`key ${written}, and more`,
			JSON.stringify({ a: [`key ${written} more`], b: 12 }),
		]) {
			const shown = withoutSecrets(text, ['another-secret', secret]);
			expect(shown).toContain('[hidden]');
			// A secret with a quote isn't part of a single word.
			if (!secret.includes('"')) expect(shown).toContain('more');
			for (let at = 0; at + 12 <= written.length; at++) {
				expect(shown).not.toContain(written.slice(at, at + 12));
			}
		}
		const body = withoutOwnSecrets({ recording_url: secret, echo: written });
		expect(JSON.stringify(body)).not.toContain(JSON.stringify(written).slice(1, 13));
	});
});

test('only complete secrets are hidden, and other links of the same storage are not', () => {
	const other = URL.replace('a.wav', 'b.wav');
	const texts = [
		other,
		`see ${JSON.stringify(other).replaceAll('/', '\\/')}`,
		encodeURIComponent(other),
	];
	for (const text of [
		...texts,
		Buffer.from(other).toString('base64'),
		Buffer.from(other).toString('hex'),
	]) {
		expect(withoutSecrets(text, [URL])).toBe(text);
	}
});

test('any text without a known secret stays unchanged in every encoding', () => {
	fc.assert(
		fc.property(fc.string(), fc.constantFrom(...TEXTS_WITH_IT), (text, [, write]) => {
			expect(withoutSecrets(write(text), [WS_TOKEN, URL])).toBe(write(text));
		}),
	);
});

describe.each(['ab12', '%41', '&amp;', '\\\\'])('searching a text of many %j', (part) => {
	const textOf = (length: number) => part.repeat(length / part.length);
	const secretsOf = (length: number) => Array.from({ length }, (_, at) => `${URL}${at}`);

	test('takes time in proportion to its length, with 100 secrets', async () => {
		const secrets = secretsOf(100);
		expect(withoutSecrets(textOf(1_000), secrets)).toBe(textOf(1_000));
		const job = (length: number) => {
			const text = textOf(length);
			return () => withoutSecrets(text, secrets);
		};
		expect(await excessOf(job, 32_000)).toBeUndefined();
	});

	test('takes time in proportion to the number of secrets', async () => {
		const text = textOf(10_000);
		const job = (count: number) => {
			const secrets = secretsOf(count);
			return () => withoutSecrets(text, secrets);
		};
		expect(await excessOf(job, 500)).toBeUndefined();
	});
});

test('known secrets are hidden in other texts, such as close reasons and frames', () => {
	expect(withoutSecrets('bad token 1 and token%201', ['token 1', 'token 12'])).toBe(
		'bad token 1 and token%201',
	);
	expect(withoutSecrets('bad secret 1 and secret%201', ['secret 1'])).toBe(
		'bad [hidden] and [hidden]',
	);
	expect(withoutSecrets('{"a":"\\u0073ecret 1"}', ['secret 1'])).toBe('{"a":"[hidden]"}');
	expect(withoutSecrets('nothing', [])).toBe('nothing');
});

test('every digit of a long number stays when a text beside it is hidden', () => {
	expect(withoutSecrets('{"a":"\\u0073ecret 1","id":1876543210987654321}', ['secret 1'])).toBe(
		'{"a":"[hidden]","id":"1876543210987654321"}',
	);
});

describe('the URL of a recording', () => {
	const data = { call_id: 'c', recording_url: URL, expires_in_seconds: 900 };

	test('is returned if it was requested', async () => {
		const client = clientReturning({ text: JSON.stringify({ success: true, data }) });
		expect(await endpoints.getRecording(client, 'c')).toMatchObject({ body: { data } });
	});

	test.each<[string, number, string]>([
		['a truncated response', 200, JSON.stringify({ success: true, data }).slice(0, -3)],
		[
			'a rejection that contains it',
			410,
			JSON.stringify({ success: false, error: `${URL} has expired`, data }),
		],
		['the service in trouble', 503, JSON.stringify(data)],
	])('is hidden in %s', async (_what, status, text) => {
		const shown = await seen(
			endpoints.getRecording(clientReturning(...[1, 2, 3, 4].map(() => ({ status, text }))), 'c'),
		);
		expect(shown).toMatch(/ServiceRejection|OutcomeUnknown/);
		expect(shown).not.toContain('Signature');
	});
});

describe('excessive secrets', () => {
	const tokens = (count: number) =>
		Array.from({ length: count }, (_, index) => `tokentoken-${index}`);

	test('with more than 100 in a response, the whole response is hidden', () => {
		const body = tokens(101).map((token) => ({ token, note: `see ${token}` }));
		expect(withoutOwnSecrets(body)).toBe('[hidden]');
		const fewer = tokens(100).map((token) => ({ token, note: `see ${token}.` }));
		expect(withoutOwnSecrets([...fewer, ...fewer])).toEqual(
			[...fewer, ...fewer].map(() => ({ token: '[hidden]', note: 'see [hidden].' })),
		);
	});

	test('only the latest 100 are remembered', () => {
		const secrets = new Secrets(TOKEN);
		secrets.remember(tokens(200_000).map((token) => ({ token })));
		expect(secrets.hide('tokentoken-199999 tokentoken-199900;')).toBe('[hidden] [hidden];');
		expect(secrets.hide('tokentoken-100000;')).toBe('tokentoken-100000;');
	});

	test('a very long one is hidden, with everything after it', () => {
		const long = `https://storage.example.com/${'ab'.repeat(5_000)}`;
		expect(withoutSecrets(`at ${long}, it says`, [long])).toBe('at [hidden]');
		expect(withoutSecrets(`at ${encodeURIComponent(long)}`, [long])).toBe('at [hidden]');
		expect(withoutSecrets(`at ${long.slice(0, 3_000)}`, [long])).toBe('at [hidden]');
	});

	test('a start that repeats is hidden from its first character', () => {
		const secret = `${'ab'.repeat(10)}c`;
		for (let length = 8; length < secret.length; length++) {
			const end = secret.slice(0, length);
			const text = withoutSecrets(`x ${end}`, [secret]);
			expect(text).toBe('x [hidden]');
		}
		expect(withoutSecrets(`x ${'ab'.repeat(10)}ab`, [secret])).toBe('x ab[hidden]');
	});
});
