import type { JsonObject } from '../json';
import type { SimulatorResponse } from './responses';

export interface SimulatorRequest {
	method: string;
	/** Without the query. */
	path: string;
	params: Record<string, string>;
	query: Record<string, string>;
	headers: Record<string, string | string[] | undefined>;
	/** The parsed body. Undefined if there was none. */
	body: unknown;
}

export interface Route {
	method: 'GET' | 'POST' | 'DELETE';
	path: string;
	/** Legacy endpoints respond with the dialect's deprecation headers. */
	legacy?: boolean;
	/** Whether it needs no API token, as a presigned URL. */
	open?: boolean;
	handle(request: SimulatorRequest): SimulatorResponse | Promise<SimulatorResponse>;
}

/** A value of a request, by the placement and name of the dialect. In a body, dots in the name nest. */
export function placed(
	{ query, body }: SimulatorRequest,
	placement: 'query' | 'body',
	name: string,
): unknown {
	if (placement === 'query') return query[name];
	let value = body;
	for (const part of name.split('.')) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
			return undefined;
		value = new Map<string, unknown>(Object.entries(value)).get(part);
	}
	return value;
}

/** The body of a request, with the values that a dialect nests or puts in the query under their names. */
export function bodyByNames(
	request: SimulatorRequest,
	names: object,
	inQuery: readonly string[] = [],
): JsonObject | undefined {
	const { body } = request;
	if (typeof body !== 'object' || body === null || Array.isArray(body)) {
		if (body !== undefined || inQuery.length === 0) return undefined;
	}
	const wanted = Object.values(names).map(String);
	const found = wanted
		.map(
			(name) => [name, placed(request, inQuery.includes(name) ? 'query' : 'body', name)] as const,
		)
		.filter(([, value]) => value !== undefined);
	// A flat value with a nested name isn't read, nor one in the body instead of the query.
	const rest = Object.entries(body ?? {}).filter(([name]) => !wanted.includes(name));
	return Object.fromEntries([...rest, ...found]);
}
