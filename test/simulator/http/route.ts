import type { JsonObject } from '../json';
import type { Answer } from './answers';

export interface SimulatorRequest {
	method: string;
	/** Without the query. */
	path: string;
	params: Record<string, string>;
	query: Record<string, string>;
	headers: Record<string, string | string[] | undefined>;
	/** The parsed body; undefined where there was none. */
	body: unknown;
}

export interface Route {
	method: 'GET' | 'POST' | 'DELETE';
	path: string;
	/** Legacy endpoints answer with the dialect's deprecation headers. */
	legacy?: boolean;
	/** Served without the API token (a presigned address). */
	open?: boolean;
	handle(request: SimulatorRequest): Answer | Promise<Answer>;
}

/** The parameters of a request whose placement a dialect chooses. */
export function placed(request: SimulatorRequest, placement: 'query' | 'body'): JsonObject {
	if (placement === 'query') return request.query;
	return typeof request.body === 'object' && request.body !== null ? { ...request.body } : {};
}
