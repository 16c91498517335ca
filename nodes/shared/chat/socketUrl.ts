import { isLoopback } from '../api/access';
import { InvalidInput } from '../api/errors';
import { onScreenOnly } from '../api/resolution';
import type { WsToken } from './token';

export interface SocketUrlOptions {
	token: WsToken;
	baseUrl: string;
	clientId: string;
	claim: boolean;
}

/**
 * The URL of the WebSocket (Events › Chat WebSocket): `ws_url` "exactly as returned" with `token`, `client_id`, and
 * `claim` appended as text, because parsing and rebuilding would re-encode the service's own query.
 *
 * The document doesn't say that `ws_url` has the host of the base URL. The short-lived WebSocket token is issued for this
 * URL, so it may go to any host that the service names. The API token never does.
 *
 * @throws InvalidInput if `ws_url` isn't a WebSocket URL, or isn't encrypted
 */
export function socketUrl(options: SocketUrlOptions): string {
	const wsUrl = options.token.ws_url.trim();
	const parsed = parseUrl(wsUrl);
	const isLocal = parsed?.protocol === 'ws:' && isLoopback(parsed);
	const isAllowed = parsed?.protocol === 'wss:' || (isLocal && isLoopbackHttp(options.baseUrl));
	if (!isAllowed) {
		throw new InvalidInput(
			"The service returned a WebSocket URL that n8n can't use",
			onScreenOnly(
				"The URL must begin with wss://. It can begin with ws:// only if the service runs on this machine and 'Base URL' in the credential begins with http://. Report this URL to your service provider.",
			),
			describeUrl(wsUrl),
		);
	}
	const added = [
		['token', options.token.token],
		['client_id', options.clientId],
		...(options.claim ? [['claim', '1']] : []),
	]
		.map((pair) => pair.map(encodeURIComponent).join('='))
		.join('&');
	// What is after "#" never reaches a server, and some WebSockets reject it.
	const [sent = ''] = wsUrl.split('#');
	return `${sent}${sent.includes('?') ? '&' : '?'}${added}`;
}

/** The URL without user name and query, for messages and logs. */
function describeUrl(wsUrl: string): string {
	const parsed = parseUrl(wsUrl);
	return parsed === null
		? 'an unreadable URL'
		: `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** Whether the base URL uses plain http on this machine. */
function isLoopbackHttp(baseUrl: string): boolean {
	const parsed = parseUrl(baseUrl);
	return parsed !== null && parsed.protocol === 'http:' && isLoopback(parsed);
}

function parseUrl(text: string): URL | null {
	return URL.canParse(text) ? new URL(text) : null;
}
