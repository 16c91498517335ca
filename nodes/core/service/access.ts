import { InvalidInput } from './errors';
import { LIMITS } from './limits';
import { withoutEnd } from '../values/text';

const SLASH = /\//;
const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks 'Base URL'.
 *
 * @returns the URL without a trailing slash
 * @throws InvalidInput unless it's an `https` URL, or an `http` URL of this machine
 */
export function parseBaseUrl(text: string): string {
	const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
	const isEncrypted = url?.protocol === 'https:';
	const isLocal = url?.protocol === 'http:' && isLoopback(url);
	if (url !== undefined && (isEncrypted || isLocal) && `${url.origin}${url.pathname}` === url.href)
		return withoutEnd(url.href, SLASH);
	throw new InvalidInput(
		"'Base URL' in the credential isn't the URL of a service",
		'In n8n, enter the URL of your service, such as "https://voice.your-provider.com". It must begin with https://, because the API token would be sent unencrypted otherwise, and can\'t contain a user name, "?", or "#".',
	);
}

/** Whether a URL is below the base URL, so that it may receive the token. Dots, encodings, and case are resolved as in the HTTP library. */
export function isBelow(baseUrl: string, target: URL): boolean {
	if (target.username !== '' || target.password !== '') return false;
	const base = new URL(baseUrl);
	const basePath = withoutEnd(base.pathname, SLASH);
	return (
		target.origin === base.origin &&
		`${target.pathname}/`.startsWith(`${basePath}/`) &&
		!leavesPath(target.pathname.slice(basePath.length))
	);
}

/** Whether a server that decodes "..%2f" would leave the path. The HTTP library doesn't decode it. */
function leavesPath(path: string): boolean {
	const decoded = path.replace(/%2e/gi, '.').replace(/%2f|%5c/gi, '/');
	return decoded.split('/').includes('..');
}

export function isLoopback(url: URL): boolean {
	return LOOPBACK.test(url.hostname);
}

/** Characters that an HTTP header can't have, white space, and invisible ones that are copied from web pages. */
const NOT_IN_A_TOKEN = /[\s\p{Cc}\p{Cf}]|[^\0-\xff]/u;

/**
 * Checks 'API Token' and removes white space around it.
 *
 * @throws InvalidInput unless it has 16 characters (`apiToken` in docs/openapi.yaml) that can be sent, without white space
 */
export function parseApiToken(text: string): string {
	const token = text.trim();
	const { apiTokenCharacters: length } = LIMITS;
	if (token.length === length && !NOT_IN_A_TOKEN.test(token)) return token;
	throw new InvalidInput(
		`The API token must have ${length} characters (got ${token.length}), without spaces or special characters`,
		"In n8n, copy the whole token from your dashboard settings to 'API Token' in the credential.",
	);
}
