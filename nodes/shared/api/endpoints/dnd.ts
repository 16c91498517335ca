import { both, hasAnyField, hasAnyValue, saysSuccess } from '../successChecks';
import type { ApiResponse, Query } from '../http';
import type { ApiClient } from '../client';
import { withAdditions, type Additions } from './endpoint';

const PATH = '/v1/dnd_numbers';

/** `POST /v1/dnd_numbers`; how its values are named and carried is open, and so is the answer. */
export async function addDndNumber(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	const request = withAdditions({ method: 'POST', path: PATH, ...values }, additions);
	return await client.send(request, saysSuccess);
}

/** `GET /v1/dnd_numbers`: active entries of an agent, with `meta` for the pages. */
export async function listDndNumbers(
	client: ApiClient,
	query: Query,
	additions: Additions = {},
	signal?: AbortSignal,
): Promise<ApiResponse> {
	const request = withAdditions({ method: 'GET', path: PATH, query, signal }, additions);
	return await client.send(request, hasAnyValue);
}

/** `DELETE /v1/dnd_numbers`; `phone` is documented, where it is carried is open. Answered with `{ success: true, message }`. */
export async function removeDndNumber(
	client: ApiClient,
	values: Additions,
	additions: Additions = {},
): Promise<ApiResponse> {
	const request = withAdditions({ method: 'DELETE', path: PATH, ...values }, additions);
	return await client.send(request, both(saysSuccess, hasAnyField('message')));
}
