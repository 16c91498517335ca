import type { Query, ServiceRequest } from '../http';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json';

/** What a user adds beyond the documented fields. */
export type Additions = { body?: JsonObject; query?: Query };

/** One part of a path, safe to stand between two slashes. */
export const segment = encodeURIComponent;

/** Additions never replace what the node sends itself; objects of one name are merged, lists are not. */
export function withAdditions(request: ServiceRequest, additions: Additions): ServiceRequest {
	const body = merged(additions.body ?? {}, request.body ?? {});
	const query = { ...additions.query, ...request.query };
	return {
		...request,
		...(Object.keys(body).length > 0 && { body }),
		...(Object.keys(query).length > 0 && { query }),
	};
}

function merged(added: JsonObject, own: JsonObject): JsonObject {
	const mergedFields = Object.entries(own).map(([name, value]): [string, JsonValue] => [
		name,
		mergedValue(valueOf(added, name), value),
	]);
	return Object.fromEntries([...Object.entries(added), ...mergedFields]);
}

function mergedValue(added: JsonValue | undefined, own: JsonValue): JsonValue {
	return isJsonObject(added) && isJsonObject(own) ? merged(added, own) : own;
}

function valueOf(record: JsonObject, name: string): JsonValue | undefined {
	return Object.hasOwn(record, name) ? record[name] : undefined;
}
