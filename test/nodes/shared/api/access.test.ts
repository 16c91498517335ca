import { parseApiToken, parseBaseUrl } from '../../../../nodes/shared/api/access';
import { InvalidInput } from '../../../../nodes/shared/api/errors';

/** What is told when it throws. */
function told(act: () => unknown): { message: string; resolution: string } {
	try {
		act();
	} catch (error) {
		if (error instanceof InvalidInput)
			return { message: error.message, resolution: error.resolution };
		throw error;
	}
	throw new Error('nothing was told');
}

describe('Base URL', () => {
	test.each([
		['https://voice.example.com', 'https://voice.example.com'],
		['  https://voice.example.com/ \n', 'https://voice.example.com'],
		['https://voice.example.com/api//', 'https://voice.example.com/api'],
		['https://voice.example.com:8443/a/b', 'https://voice.example.com:8443/a/b'],
		['HTTPS://Voice.Example.com', 'https://voice.example.com'],
		['http://localhost:3000/', 'http://localhost:3000'],
		['http://127.0.0.1', 'http://127.0.0.1'],
		['http://127.10.0.255:80', 'http://127.10.0.255'],
		['http://[::1]:8080', 'http://[::1]:8080'],
	])('%j is %s', (text, address) => {
		expect(parseBaseUrl(text)).toBe(address);
	});

	test.each([
		['http://voice.example.com', 'would send the API token unprotected', 'begin with https://'],
		['http://localhost.example.com', 'would send the API token unprotected', 'https://'],
		['http://my-localhost', 'would send the API token unprotected', 'https://'],
		['http://127.0.0.1.example.com', 'would send the API token unprotected', 'https://'],
		['ftp://localhost', 'would send the API token unprotected', 'begin with https://'],
		['', 'The credential has no Base URL', 'beginning with https://'],
		[' \t', 'The credential has no Base URL', 'Enter the address of your service'],
		['voice.example.com', 'is not a web address', 'Enter the whole address'],
		['https://voice.example.com?a=b', 'holds more than an address', 'from ? or # on'],
		['https://voice.example.com#top', 'holds more than an address', 'from ? or # on'],
		['https://me@voice.example.com', 'holds more than an address', 'Remove sign-in names'],
		['https://:secret@voice.example.com', 'holds more than an address', 'Remove sign-in names'],
	])('%j is not taken', (text, what, resolution) => {
		const { message, resolution: advice } = told(() => parseBaseUrl(text));
		expect(message).toContain(what);
		expect(advice).toContain(resolution);
	});
});

describe('API Token', () => {
	test.each(['tok-0123456789ab', ' tok-0123456789ab\n'])('%j is taken', (text) => {
		expect(parseApiToken(text)).toBe('tok-0123456789ab');
	});

	test.each([
		['tok-0123456789a', 15],
		['tok-0123456789abc', 17],
		['tok-0123 56789ab', 16],
		['', 0],
	])('%j is not', (text, characters) => {
		expect(told(() => parseApiToken(text))).toEqual({
			message: `The API token has ${characters} characters, but a token has 16`,
			resolution: 'Copy the whole token from the settings of your dashboard into the credential.',
		});
	});
});
