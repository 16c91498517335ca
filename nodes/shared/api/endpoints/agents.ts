import { both, hasAnyField, hasAnyValue, saysSuccess } from '../envelope';
import type { ApiResponse, Query } from '../http';
import type { ApiClient } from '../client';
import { withAdditions, type Additions } from './endpoint';

const DND_PATH = '/v1/dnd_numbers';

/** `GET /v1/active_agents`: agents that are active and able to take calls. The response isn't documented. */
export async function getActiveAgents(
	client: ApiClient,
	additions: Additions = {},
): Promise<ApiResponse> {
	const request = withAdditions({ method: 'GET', path: '/v1/active_agents' }, additions);
	return await client.send(request, hasAnyValue);
}

/** `POST /v1/dnd_numbers`. The names and positions of its values and its response aren't documented. */
export async function addDndNumber(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	const request = withAdditions({ method: 'POST', path: DND_PATH, ...values }, additions);
	return await client.send(request, saysSuccess);
}

/** `GET /v1/dnd_numbers`: the active entries of an agent, with `meta` for pagination. */
export async function listDndNumbers(
	client: ApiClient,
	query: Query,
	additions: Additions = {},
	signal?: AbortSignal,
): Promise<ApiResponse> {
	const request = withAdditions({ method: 'GET', path: DND_PATH, query, signal }, additions);
	return await client.send(request, hasAnyValue);
}

/** `DELETE /v1/dnd_numbers`: returns `{ success: true, message }`. Whether `phone` is in the query or body isn't documented. */
export async function removeDndNumber(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	const request = withAdditions({ method: 'DELETE', path: DND_PATH, ...values }, additions);
	return await client.send(request, both(saysSuccess, hasAnyField('message')));
}
