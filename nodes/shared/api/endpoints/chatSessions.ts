import { carries, either, saysSuccess } from '../evidence';
import type { Answer } from '../http';
import type { Service } from '../client';
import type { WsTokenRequest } from '../types';
import { segment, withAdditions, type Additions } from './endpoint';

/** All who want the session wait for its token, so a request that hangs makes room for the next one. */
const TOKEN_TIMEOUT_MS = 15_000;

/** `POST /v1/chat/session/{id}/ws_token`; with an API token the stream must be `user`. */
export async function requestWsToken(
	service: Service,
	sessionId: string,
	additions: Additions = {},
): Promise<Answer> {
	const path = `/v1/chat/session/${segment(sessionId)}/ws_token`;
	const body: WsTokenRequest = { stream: 'user' };
	const timeoutMs = TOKEN_TIMEOUT_MS;
	const request = withAdditions({ method: 'POST', path, body, timeoutMs }, additions);
	return await service.send(request, either(saysSuccess, carries('token')), { isSecret: true });
}
