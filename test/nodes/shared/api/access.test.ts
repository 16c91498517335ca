import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { isBelow, parseApiToken, parseBaseUrl, urlOf } from '../../../../nodes/shared/api/access';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { explainedBy } from '../explainedBy';

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
		['http://voice.example.com', 'must begin with https://', 'unencrypted'],
		['http://localhost.example.com', 'must begin with https://', 'unencrypted'],
		['http://my-localhost', 'must begin with https://', 'unencrypted'],
		['http://127.0.0.1.example.com', 'must begin with https://', 'unencrypted'],
		['ftp://localhost', 'must begin with https://', 'unencrypted'],
		['', "'Base URL' in the credential is empty", 'Enter the URL of your service'],
		[' \t', "'Base URL' in the credential is empty", 'such as "https://'],
		['voice.example.com', "isn't a URL", 'Enter the full URL'],
		['https:// a.example.com', "isn't a URL", 'Enter the full URL'],
		['https://<your host>/api', "isn't a URL", 'Enter the full URL'],
		['“https://a.example.com”', "isn't a URL", 'Enter the full URL'],
		['voice.example.com:8443', 'must begin with https://', 'unencrypted'],
		['localhost:8080/api', 'must begin with https://', 'unencrypted'],
		['https://voice.example.com?a=b', 'has a user name, "?", or "#"', 'Remove this part'],
		['https://voice.example.com/?to=https://b', 'has a user name, "?", or "#"', 'Remove this part'],
		['https://voice.example.com#top', 'has a user name, "?", or "#"', 'Remove this part'],
		['https://me@voice.example.com', 'has a user name, "?", or "#"', 'Remove this part'],
		['https://:secret@voice.example.com', 'has a user name, "?", or "#"', 'Remove this part'],
	])('%j is invalid', (text, problem, next) => {
		const { message, resolution } = explainedBy(() => parseBaseUrl(text));
		expect(message).toContain(problem);
		expect(resolution).toContain(next);
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
	const GAP = 'contains spaces or line breaks';
	const UNSENDABLE =
		"contains a character that can't be sent, such as an invisible one or a curly quotation mark";

	test.each([
		...['tok-0123 56789ab', 'tok-0123\t567 89a', 'tok 0123', 'tok-01\u00a0256789ab'].map((text) => [
			text,
			GAP,
		]),
		...[
			...['tok-0123\u200b456789a', '\u200btok-0123456789ab', 'tok-0123456789ab\u2060'],
			...['tok-\u00ad0123456789a', 'tok-0123\x01456789a', '“tok-0123456789”'],
			...['tok-0123456789аb', 'tok-0123😀6789ab'],
		].map((text) => [text, UNSENDABLE]),
		['tok-0123456789a', 'must have 16 characters (got 15)'],
		['tok-0123456789abc', 'must have 16 characters (got 17)'],
		['', 'must have 16 characters (got 0)'],
	])('%j is invalid', (text = '', problem = '') => {
		expect(explainedBy(() => parseApiToken(text))).toMatchObject({
			message: `The API token ${problem}`,
			resolution:
				"Copy the whole token from your dashboard settings to 'API Token' in the credential.",
		});
	});

	test('a valid token can be sent in a header', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', minLength: 16, maxLength: 16 }), (text) => {
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

describe('the URL of a request', () => {
	const HOST = 'https://voice.example.com';
	const path = '/v1/calls';

	test('is its path below the base URL', () => {
		expect(urlOf(`${HOST}/api`, { path })).toBe(`${HOST}/api/v1/calls`);
	});

	test.each([
		'https://internal.example/v1/calls/page-2',
		'https://internal.example/?',
		`${HOST}/other/page-2#top`,
		'mailto:someone@example.com',
	])('a link to another host without a query is rejected: %s', (link) => {
		expect(explainedBy(() => urlOf(`${HOST}/api`, { path, link }))).toMatchObject({
			message:
				"The link to the next page leads outside of 'Base URL' and has no query, so it can't be followed",
			resolution:
				"Check 'Base URL' and 'Path to Next Cursor or Link in Response' in the credential. If they're correct, ask your service provider for links to its public URL.",
		});
	});

	test.each([
		['HTTPS://VOICE.EXAMPLE.COM:443/v1/calls?page=2', `${HOST}/v1/calls?page=2`],
		[`${HOST}/v1/calls?page=2&q=a%2Bb%20c`, `${HOST}/v1/calls?page=2&q=a%2Bb%20c`],
		[`${HOST}/v1/calls/pages/2`, `${HOST}/v1/calls/pages/2`],
		[`${HOST}/v1/calls?page=2#top`, `${HOST}/v1/calls?page=2`],
		['http://voice.example.com/v1/calls/2', `${HOST}/v1/calls/2`],
	])('a link below the base URL is used: %s', (link, url) => {
		expect(urlOf(HOST, { path, link })).toBe(url);
	});

	test.each([
		['a path whose dots another program may decode', `${HOST}/api/%2e%2e%2fother?page=2`],
		['a path with encoded slashes of the other kind', `${HOST}/api/..%5Cother?page=2`],
		['a path that only begins alike', `${HOST}/apievil/v1/calls?page=2`],
		['a path in other letters', `${HOST}/API/v1/calls?page=2`],
		['a path by backslashes', 'https:\\\\evil.example\\api\\v1?page=2'],
		['the same host by another scheme', 'ftp://voice.example.com/api/v1/calls?page=2'],
		['another host', 'https://internal.example/other?page=2'],
		['another port', 'https://voice.example.com:8443/other?page=2'],
		['a host behind a sign-in name', 'https://voice.example.com@evil.example/?page=2'],
		['a path above the base URL', `${HOST}/other?page=2`],
		['a path that climbs out', `${HOST}/api/../other?page=2`],
		['no web address', 'mailto:someone@example.com?page=2'],
	])(
		'only the query of a link to %s is used, so that the token is not sent there',
		(_name, link) => {
			expect(urlOf(`${HOST}/api`, { path, link })).toBe(`${HOST}/api/v1/calls?page=2`);
		},
	);
});
