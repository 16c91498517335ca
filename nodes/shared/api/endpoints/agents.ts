import { hasAnyValue } from '../successChecks';
import type { ApiResponse } from '../http';
import type { ApiClient } from '../client';
import { withAdditions, type Additions } from './endpoint';

/** `GET /v1/active_agents`: agents that are active and able to take calls. The response isn't documented. */
export async function getActiveAgents(
	client: ApiClient,
	additions: Additions = {},
): Promise<ApiResponse> {
	const request = withAdditions({ method: 'GET', path: '/v1/active_agents' }, additions);
	return await client.send(request, hasAnyValue);
}
