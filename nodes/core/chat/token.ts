import { isLoopback } from '../service/access';
import { recordOf } from '../service/envelope';
import { InvalidInput } from '../service/errors';
import type { ApiResponse } from '../service/http';

/** What a connection needs of the `data` of `ws_token`. */
export type WsToken = { token: string; ws_url: string };

/** @throws InvalidInput if the response has no token or no URL */
export function readWsToken(response: ApiResponse): WsToken {
	const { token, ws_url } = recordOf(response);
	if (typeof token !== 'string' || token === '' || typeof ws_url !== 'string') {
		throw new InvalidInput(
			'The response of the service has no WebSocket token or URL',
			"In n8n, check 'Base URL' in the credential. If it's correct, ask your service provider about POST ws_token.",
		);
	}
	return { token, ws_url };
}

/** "The token expires 5 minutes after issue". */
const TOKEN_LIFETIME_MS = 300_000;

/** Shortest time between two requests for a token while the socket is open. */
export const TOKEN_RETRY_MS = 30_000;

/** A token and when the next one is due, by `clock.elapsed()`. */
export interface MintedToken extends WsToken {
	renewAt: number;
}

/**
 * The next token is due after 70 to 80 % of the lifetime: early enough for the ack of a frame in flight, and not at the
 * same moment for sessions that were opened together. `expires_at` isn't read, because the clock here may be wrong.
 */
export function renewAfterMs(): number {
	return TOKEN_LIFETIME_MS * (0.7 + 0.1 * Math.random());
}

/**
 * The URL of the WebSocket (docs/asyncapi.yaml): `ws_url` as it was returned, with `token`, `client_id`, and
 * `claim` appended as text, because parsing and rebuilding would re-encode the service's own query.
 *
 * The document doesn't say that `ws_url` has the host of the base URL. The short-lived WebSocket token is issued for this
 * URL, so it may go to any host that the service names. The API token never does.
 *
 * @throws InvalidInput if `ws_url` isn't a WebSocket URL, or isn't encrypted
 */
export function socketUrl({
	token: { token, ws_url },
	baseUrl,
	clientId,
	claim,
}: {
	token: WsToken;
	baseUrl: string;
	clientId: string;
	claim: boolean;
}): string {
	const wsUrl = ws_url.trim();
	const url = URL.canParse(wsUrl) ? new URL(wsUrl) : undefined;
	// A base URL with http is one of this machine.
	const isLocal = url?.protocol === 'ws:' && isLoopback(url) && baseUrl.startsWith('http:');
	if (url?.protocol !== 'wss:' && !isLocal) {
		throw new InvalidInput(
			"The service returned a WebSocket URL that n8n can't use",
			"Report this URL to your service provider, because it must begin with wss://. In n8n, ws:// is only possible for a service on this machine, if 'Base URL' in the credential begins with http://.",
			// Without user name and query.
			{
				originalMessage:
					url === undefined ? 'an unreadable URL' : `${url.protocol}//${url.host}${url.pathname}`,
			},
		);
	}
	const added = [['token', token], ['client_id', clientId], ...(claim ? [['claim', '1']] : [])]
		.map((pair) => pair.map(encodeURIComponent).join('='))
		.join('&');
	// What is after "#" never reaches a server, and some WebSockets reject it.
	const sent = wsUrl.replace(/#.*/s, '');
	return `${sent}${sent.includes('?') ? '&' : '?'}${added}`;
}
