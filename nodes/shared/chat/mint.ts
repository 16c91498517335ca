import { dataOf } from '../api/envelope';
import {
	InvalidInput,
	isRefusal,
	isTransient,
	MissingMapping,
	ServiceRefusal,
} from '../api/errors';
import type { Answer } from '../api/http';
import { isJsonObject, type JsonValue } from '../json';
import type { WsToken } from '../api/types';
import type { MintResult } from './types';

/**
 * Asks for a token and sorts what comes back. A token is nothing a customer notices, so asking again is safe at any time;
 * it is left when the answer would stay the same.
 *
 * @param ask sends `POST /v1/chat/session/{id}/ws_token`
 */
export async function mintToken(ask: () => Promise<Answer>): Promise<MintResult> {
	try {
		const token = readWsToken(dataOf(await ask()));
		return token === null ? { kind: 'refused', error: UNREADABLE } : { kind: 'token', token };
	} catch (error) {
		return { kind: kindOf(error), error };
	}
}

const UNREADABLE = new InvalidInput(
	'The service answered without a WebSocket token or address',
	'Check Base URL in the credential, and ask the owner of the service about POST ws_token.',
);

function kindOf(error: unknown): 'session_closed' | 'refused' | 'unreachable' {
	if (error instanceof InvalidInput || error instanceof MissingMapping) return 'refused';
	if (!(error instanceof ServiceRefusal)) return 'unreachable';
	// By the body, as in the error table; the documented status (409) has other meanings too.
	if (isRefusal(error, 'session_closed')) return 'session_closed';
	return isTransient(error) ? 'unreachable' : 'refused';
}

function readWsToken(data: JsonValue): WsToken | null {
	if (!isJsonObject(data)) return null;
	const { token, ws_url: wsUrl, expires_at: expiresAt, stream } = data;
	if (typeof token !== 'string' || token === '' || typeof wsUrl !== 'string') return null;
	return {
		token,
		ws_url: wsUrl,
		// Without a time the documented 5 minutes count.
		expires_at: typeof expiresAt === 'number' ? expiresAt : 0,
		stream: typeof stream === 'string' ? stream : '',
	};
}
