import { InvalidInput } from './errors';
import { onScreenOnly } from './modelAdvice';
import { LIMITS } from './limits';
import { withoutEnd } from '../text';

const SLASH = /\//;
const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The service's address without a trailing slash.
 *
 * @throws InvalidInput unless it is `https`, or `http` on this very machine
 */
export function parseBaseUrl(text: string): string {
	const trimmed = text.trim();
	if (trimmed === '') {
		throw new InvalidInput(
			'The credential has no Base URL',
			onScreenOnly('Enter the address of your service in the credential, beginning with https://.'),
		);
	}
	const fault = faultOfUrl(trimmed);
	if (fault !== undefined) throw fault;
	if (!URL.canParse(trimmed)) {
		throw new InvalidInput(
			'The Base URL in the credential is not a web address',
			onScreenOnly(
				'Enter the whole address of your service in the credential, beginning with https://.',
			),
		);
	}
	const url = new URL(trimmed);
	if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url))) {
		throw new InvalidInput(
			'The Base URL in the credential would send the API token unprotected',
			onScreenOnly('Let Base URL in the credential begin with https://.'),
		);
	}
	if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
		throw new InvalidInput(
			'The Base URL in the credential holds more than an address',
			onScreenOnly(
				'Remove sign-in names and everything from ? or # on from Base URL in the credential.',
			),
		);
	}
	return withoutEnd(`${url.origin}${url.pathname}`, SLASH);
}

/** What the URL parser lets pass: it takes nearly anything for the name of a host, and leaves out line breaks. */
function faultOfUrl(text: string): InvalidInput | undefined {
	if (isSeveral(text)) {
		return new InvalidInput(
			"'Base URL' in the credential must be one URL",
			onScreenOnly(`Enter only the URL of your service, such as ${EXAMPLE}.`),
		);
	}
	if (/\s/.test(text)) {
		return new InvalidInput(
			"'Base URL' in the credential has white space in it",
			onScreenOnly(`Remove it. A URL has no spaces and no line breaks, such as ${EXAMPLE}.`),
		);
	}
	const host = URL.canParse(text) ? new URL(text).hostname : '';
	// Of "localhost:8080" the parser takes the beginning for a scheme, and finds no host.
	if (!NOT_IN_A_URL.test(text) && (host === '' || HOST.test(host))) return undefined;
	return new InvalidInput(
		"'Base URL' in the credential has a character that a URL can't have",
		onScreenOnly(
			`Replace placeholders such as {base_url}. Enter the URL of your service, such as ${EXAMPLE}.`,
		),
	);
}

const EXAMPLE = '"https://voice.your-provider.com"';

/** Characters of a host name, or of an IPv6 address. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/i;
const NOT_IN_A_URL = /[{}<>"\\^`|]/;

/** Whether it is more than one URL. The path of a proxy may be a URL of its own, at another host. */
function isSeveral(text: string): boolean {
	if (text.split(/\s+/).filter((part) => part.includes('://')).length > 1) return true;
	const [, host = '', path = ''] = /^[a-z\d+.-]+:\/\/([^/?#]*)([^?#]*)/i.exec(text) ?? [];
	if (/[,;|+&]/.test(host) || (host.endsWith(':') && path.startsWith('//'))) return true;
	const inner = [...path.matchAll(/\/https?:\/\/([^/]*)/gi)].map(([, own = '']) => own);
	return inner.length < path.split('://').length - 1 || inner.includes(host);
}

/** Whether the token may go there. Compared after dots, encodings and letter case have been resolved as the HTTP library does. */
export function isBelow(baseUrl: string, target: URL): boolean {
	if (target.username !== '' || target.password !== '') return false;
	const base = new URL(baseUrl);
	const basePath = withoutEnd(base.pathname, SLASH);
	return (
		target.origin === base.origin &&
		`${target.pathname}/`.startsWith(`${basePath}/`) &&
		!climbs(target.pathname.slice(basePath.length))
	);
}

/** Whether a server that decodes slashes would leave the path, as with "..%2f": the HTTP library leaves them as they are. */
function climbs(path: string): boolean {
	const decoded = path.replace(/%2e/gi, '.').replace(/%2f|%5c/gi, '/');
	return decoded.split('/').includes('..');
}

/**
 * Where a request goes. A link of the service is followed as it is, by the base URL's scheme if only that differs. If it
 * leads elsewhere, such as to a host behind a proxy, its query is used at the request's own path.
 *
 * @throws InvalidInput for a link that leads elsewhere and has no query: it would begin the list again, unfiltered
 */
export function urlOf(baseUrl: string, { path, link }: { path: string; link?: string }): string {
	const own = `${baseUrl}${path}`;
	if (link === undefined) return own;
	const target = new URL(link);
	target.hash = '';
	if (target.host === new URL(baseUrl).host) target.protocol = new URL(baseUrl).protocol;
	if (isBelow(baseUrl, target)) return target.href;
	if (target.search !== '') return `${own}${target.search}`;
	throw new InvalidInput(
		"The link to the next page leads outside of 'Base URL' and has no query, so it can't be followed",
		onScreenOnly(
			"Check 'Base URL' and 'Path to Next Cursor or Link in Response' in the credential, or ask your service provider for links to its public URL.",
		),
	);
}

export function isLoopback(url: URL): boolean {
	return LOOPBACK.test(url.hostname);
}

/** What an HTTP header can't have, and the invisible characters that come along when text is copied from a page. */
const NOT_IN_A_TOKEN = /[\p{Cc}\p{Cf}]|[^\0-\xff]/u;

/**
 * The API token without the white space that comes along when it is pasted.
 *
 * @throws InvalidInput if it isn't 16 characters long (Authentication 2), or has white space, or what can't be sent, inside
 */
export function parseApiToken(text: string): string {
	const token = text.trim();
	const resolution = onScreenOnly(
		'Copy the whole token from the settings of your dashboard into the credential.',
	);
	if (/\s/.test(token)) {
		throw new InvalidInput('The API token has white space in it, but a token has none', resolution);
	}
	if (NOT_IN_A_TOKEN.test(token)) {
		throw new InvalidInput(
			"The API token has a character in it that can't be sent, such as an invisible one or a curly quotation mark",
			resolution,
		);
	}
	if (token.length !== LIMITS.apiTokenCharacters) {
		throw new InvalidInput(
			`The API token has ${token.length} characters, but a token has ${LIMITS.apiTokenCharacters}`,
			resolution,
		);
	}
	return token;
}
