import get from 'lodash/get';
import mapValues from 'lodash/mapValues';
import { isJsonObject, type JsonObject, type JsonValue } from '../../nodes/core/values/json';
import { dataOf, resolved, schemaNamed } from './openapi';

/** A value that a schema of docs/openapi.yaml allows: its first example, or a value of its type. */
export function exampleOf(schema: unknown): JsonValue {
	const { examples, enum: values, type, properties, items, minimum } = resolved(schema);
	const written: unknown = get(examples ?? values, 0);
	if (typeof written === 'string' || typeof written === 'number') return written;
	if (type === 'object') return mapValues(resolved(properties), exampleOf);
	if (type === 'array') return items === undefined ? [] : [exampleOf(items)];
	if (type === 'integer') return typeof minimum === 'number' ? minimum : 1;
	return type === 'boolean' ? true : 'text';
}

/** An object with every documented field. */
function objectOf(schema: unknown): JsonObject {
	const example = exampleOf(schema);
	if (isJsonObject(example)) return example;
	throw new Error(`This schema is not of an object: ${JSON.stringify(schema)}`);
}

/** The `data` of a successful response. */
export const exampleFrom = (endpoint: string): JsonObject => objectOf(dataOf(endpoint));

/** An object that docs/openapi.yaml names, such as `Agent`. */
export const exampleNamed = (name: string): JsonObject => objectOf(schemaNamed(name));
