import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { isBelow, parseApiToken, parseBaseUrl } from '../../../../nodes/core/service/access';
import { InvalidInput } from '../../../../nodes/core/service/errors';
import { explainedBy } from '../values/explainedBy';

describe('Base URL', () => {
	test.each([
		['https://voice.example.com', 'https://voice.example.com'],
		['  https://voice.example.com/ \n', 'https://voice.example.com'],
		['https://voice.example.com/api//', 'https://voice.example.com/api'],
		['https://voice.example.com:8443/a/b', 'https://voice.example.com:8443/a/b'],
		['HTTPS://Voice.Example.com', 'https://voice.example.com'],
		['http://localhost:3000/', 'http://localhost:3000'],
		['https://voice.example.com:/api', 'https://voice.example.com/api'],
		['http://127.0.0.1', 'http://127.0.0.1'],
		['http://127.10.0.255:80', 'http://127.10.0.255'],
		['http://[::1]:8080', 'http://[::1]:8080'],
	])('%j is %s', (text, address) => {
		expect(parseBaseUrl(text)).toBe(address);
	});

	test.each([
		...['http://voice.example.com', 'http://localhost.example.com', 'http://my-localhost'],
		...['http://127.0.0.1.example.com', 'ftp://localhost', '', ' \t', 'voice.example.com'],
		...['https:// a.example.com', 'https://<your host>/api', '“https://a.example.com”'],
		...['voice.example.com:8443', 'localhost:8080/api', 'https://voice.example.com?a=b'],
		...['https://voice.example.com/?to=https://b', 'https://voice.example.com#top'],
		...['https://me@voice.example.com', 'https://:secret@voice.example.com'],
	])('%j is invalid', (text) => {
		const { message, resolution } = explainedBy(() => parseBaseUrl(text));
		expect(message).toBe("'Base URL' in the credential isn't the URL of a service");
		expect(resolution).toMatch(
			/^In n8n, enter the URL .*must begin with https:.*user name, "\?", or "#"/,
		);
	});
});

test('the path of a proxy may contain its target URL', () => {
	const base = parseBaseUrl('https://h.example.com/proxy/https://x.example.com/');
	expect(base).toBe('https://h.example.com/proxy/https://x.example.com');
	const own = new URL(`${base}/v1/calls`);
	expect(isBelow(base, own)).toBe(true);
	expect(isBelow(base, new URL('https://x.example.com/v1/calls'))).toBe(false);
});

describe('API Token', () => {
	test.each([
		...['tok-0123 56789ab', 'tok-0123\t567 89a', 'tok-01\u00a02456789ab', 'Bearer tok-01234'],
		...['tok-0123\u200b456789a', 'tok-\u00ad0123456789a', 'tok-0123\x01456789a'],
		...['“tok-01234567890', 'tok-0123456789аb', 'tok-01😀456789ab'],
	])('%j is invalid', (text) => {
		expect(text).toHaveLength(16);
		expect(() => parseApiToken(text)).toThrow('without spaces or special characters');
	});

	test.each([
		['tok-0123456789a', 15],
		['tok-0123456789abc', 17],
		['', 0],
	])('%j has the wrong length', (text, count) => {
		expect(explainedBy(() => parseApiToken(text))).toMatchObject({
			message: `The API token must have 16 characters (got ${count}), without spaces or special characters`,
			resolution:
				"In n8n, copy the whole token from your dashboard settings to 'API Token' in the credential.",
		});
	});

	test('a valid token can be sent in a header', () => {
		const characters = fc
			.integer({ min: 0x20, max: 0x120 })
			.map((code) => String.fromCodePoint(code));
		fc.assert(
			fc.property(fc.array(characters, { minLength: 16, maxLength: 16 }), (texts) => {
				const text = texts.join('');
				try {
					validateHeaderValue('API-Token', parseApiToken(text));
				} catch (error) {
					expect(error).toBeInstanceOf(InvalidInput);
				}
			}),
		);
	});

	test.each(['tok-0123456789ab', ' tok-0123456789ab\n'])('%j is valid', (text) => {
		expect(parseApiToken(text)).toBe('tok-0123456789ab');
	});
});

describe('a URL below the base URL', () => {
	const HOST = 'https://voice.example.com';
	const isIn = (url: string) => isBelow(`${HOST}/api`, new URL(url));

	test.each([
		`${HOST}/api`,
		`${HOST}/api/v1/calls?page=2#top`,
		'HTTPS://VOICE.EXAMPLE.COM:443/api/v1',
	])('%s may get the token', (url) => {
		expect(isIn(url)).toBe(true);
	});

	test.each([
		['a path whose dots another program may decode', `${HOST}/api/%2e%2e%2fother`],
		['a path with encoded slashes of the other kind', `${HOST}/api/..%5Cother`],
		['a path that only begins alike', `${HOST}/apievil/v1/calls`],
		['a path in other letters', `${HOST}/API/v1/calls`],
		['a path by backslashes', 'https:\\\\evil.example\\api\\v1'],
		['the same host by another scheme', 'ftp://voice.example.com/api/v1/calls'],
		['unencrypted', 'http://voice.example.com/api/v1/calls'],
		['another host', 'https://internal.example/api'],
		['another port', 'https://voice.example.com:8443/api'],
		['a host behind a sign-in name', 'https://voice.example.com@evil.example/api'],
		['the same host behind a sign-in name', 'https://me@voice.example.com/api'],
		['a host that begins alike', 'https://voice.example.com.evil.example/api'],
		['a path above the base URL', `${HOST}/other`],
		['a path that climbs out', `${HOST}/api/../other`],
		['no web address', 'mailto:someone@example.com'],
	])('%s may not', (_what, url) => {
		expect(isIn(url)).toBe(false);
	});
});
