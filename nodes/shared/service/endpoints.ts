import type { Answer, Query, ServiceRequest } from './http';
import type { Service } from './service';
import type { CallRequest, CampaignContactsRequest, JsonObject, WsTokenRequest } from './types';

/** What a user adds beyond the documented fields. */
export type Additions = { body?: JsonObject; query?: Query };

const segment = encodeURIComponent;

function withAdditions(request: ServiceRequest, additions: Additions): ServiceRequest {
	const body = { ...additions.body, ...request.body };
	const query = { ...additions.query, ...request.query };
	return {
		...request,
		...(Object.keys(body).length > 0 && { body }),
		...(Object.keys(query).length > 0 && { query }),
	};
}

/** `POST /v1/call`, or the legacy `POST /call` with the identical contract. */
export async function placeCall(
	service: Service,
	body: CallRequest,
	{ legacy = false, ...additions }: Additions & { legacy?: boolean } = {},
): Promise<Answer> {
	const path = legacy ? '/call' : '/v1/call';
	return await service.send(withAdditions({ method: 'POST', path, body }, additions));
}

/** `GET /v1/active_agents`: agents that are active and able to take calls. */
export async function getActiveAgents(
	service: Service,
	additions: Additions = {},
): Promise<Answer> {
	return await service.send(withAdditions({ method: 'GET', path: '/v1/active_agents' }, additions));
}

/** `POST /v1/campaigns/{id}/contacts`. */
export async function pushContacts(
	service: Service,
	campaignId: number,
	body: CampaignContactsRequest,
	additions: Additions = {},
): Promise<Answer> {
	const path = `/v1/campaigns/${segment(campaignId)}/contacts`;
	return await service.send(withAdditions({ method: 'POST', path, body }, additions));
}

/** `POST /v1/chat/session/{id}/ws_token`; with an API token the stream must be `user`. */
export async function requestWsToken(
	service: Service,
	sessionId: string,
	additions: Additions = {},
): Promise<Answer> {
	const path = `/v1/chat/session/${segment(sessionId)}/ws_token`;
	const body: WsTokenRequest = { stream: 'user' };
	return await service.send(withAdditions({ method: 'POST', path, body }, additions));
}
