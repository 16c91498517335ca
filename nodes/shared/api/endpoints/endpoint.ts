import type { Query, ServiceRequest } from '../http';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json';

/** Fields that are added to the documented ones. */
export type Additions = { body?: JsonObject; query?: Query };

/** Encodes a segment of a path. */
export const segment = encodeURIComponent;

/** Adds fields to a request. They never replace its own fields. Objects are merged, lists aren't. */
export function withAdditions(request: ServiceRequest, additions: Additions): ServiceRequest {
	const body = merge(additions.body ?? {}, request.body ?? {});
	const query = { ...additions.query, ...request.query };
	return {
		...request,
		...(Object.keys(body).length > 0 && { body }),
		...(Object.keys(query).length > 0 && { query }),
	};
}

function merge(added: JsonObject, own: JsonObject): JsonObject {
	const mergedFields = Object.entries(own).map(([name, value]): [string, JsonValue] => [
		name,
		mergeValue(valueOf(added, name), value),
	]);
	return Object.fromEntries([...Object.entries(added), ...mergedFields]);
}

function mergeValue(added: JsonValue | undefined, own: JsonValue): JsonValue {
	return isJsonObject(added) && isJsonObject(own) ? merge(added, own) : own;
}

function valueOf(record: JsonObject, name: string): JsonValue | undefined {
	return Object.hasOwn(record, name) ? record[name] : undefined;
}
