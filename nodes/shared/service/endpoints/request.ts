import type { Query, ServiceRequest } from '../core/http';
import type { JsonObject } from '../types';

/** What a user adds beyond the documented fields. */
export type Additions = { body?: JsonObject; query?: Query };

/** One part of a path, safe to stand between two slashes. */
export const segment = encodeURIComponent;

/** Additions never replace what the node sends itself. */
export function withAdditions(request: ServiceRequest, additions: Additions): ServiceRequest {
	const body = { ...additions.body, ...request.body };
	const query = { ...additions.query, ...request.query };
	return {
		...request,
		...(Object.keys(body).length > 0 && { body }),
		...(Object.keys(query).length > 0 && { query }),
	};
}
