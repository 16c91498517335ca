import { isLoopback } from '../api/access';
import type { WsToken } from '../api/types';

export type ConnectionAddress =
	| { kind: 'address'; url: string }
	| { kind: 'unusable'; why: 'not_a_websocket' | 'not_encrypted' };

export interface AddressRequest {
	token: WsToken;
	baseUrl: string;
	clientId: string;
	claim: boolean;
}

/**
 * `ws_url` "exactly as returned" with `token`, `client_id` and `claim` added. It is extended as text, because
 * taking it apart and putting it together would re-encode the service's own query.
 *
 * The document does not say that `ws_url` has the host of the base URL, so the WebSocket token, minted for this
 * very address, goes where the service says; the API token never does.
 */
export function connectionAddress(request: AddressRequest): ConnectionAddress {
	const wsUrl = request.token.ws_url.trim();
	const parsed = parseUrl(wsUrl);
	if (parsed === null || !['ws:', 'wss:'].includes(parsed.protocol)) {
		return { kind: 'unusable', why: 'not_a_websocket' };
	}
	const plainAllowed = isLoopbackHttp(request.baseUrl) && isLoopback(parsed);
	if (parsed.protocol === 'ws:' && !plainAllowed) return { kind: 'unusable', why: 'not_encrypted' };

	// A fragment never reaches the server and makes some WebSockets reject the address.
	const [bare = ''] = wsUrl.split('#');
	const added = [
		['token', request.token.token],
		['client_id', request.clientId],
		...(request.claim ? [['claim', '1']] : []),
	]
		.map((pair) => pair.map(encodeURIComponent).join('='))
		.join('&');
	return { kind: 'address', url: bare + separator(bare) + added };
}

/** Address without query and user part, for messages and logs. */
export function describeAddress(wsUrl: string): string {
	const parsed = parseUrl(wsUrl.trim());
	return parsed === null
		? 'an unreadable address'
		: `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** Whether the base URL is plain http on this very machine. */
function isLoopbackHttp(baseUrl: string): boolean {
	const parsed = parseUrl(baseUrl);
	return parsed !== null && parsed.protocol === 'http:' && isLoopback(parsed);
}

function separator(url: string): string {
	const start = url.indexOf('?');
	if (start < 0) return '?';
	// A question mark that stands within the query is part of it.
	return start === url.length - 1 || url.endsWith('&') ? '' : '&';
}

function parseUrl(text: string): URL | null {
	return URL.canParse(text) ? new URL(text) : null;
}
