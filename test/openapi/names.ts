import { isObject, type JsonObject } from '../simulator/json';
import { OPENAPI, readDescription, resolved } from './openapi';

export const ASYNCAPI = readDescription('docs/asyncapi.yaml');

/** Keywords with values that a request or response can have. */
const VALUES = ['const', 'enum', 'examples'];

/** Every field, parameter, and value in a part of a description, as far as it's written there. */
function namesIn(node: unknown): string[] {
	if (Array.isArray(node)) return node.flatMap(namesIn);
	if (!isObject(node)) return [];
	return [
		...('in' in node && typeof node.name === 'string' ? [node.name] : []),
		...Object.entries(node).flatMap(([key, value]) => {
			if (VALUES.includes(key)) return [value].flat().filter((one) => typeof one === 'string');
			if (key !== 'properties' || !isObject(value)) return namesIn(value);
			return [...Object.keys(value), ...Object.values(value).flatMap(namesIn)];
		}),
	];
}

export const DOCUMENTED_NAMES: ReadonlySet<string> = new Set([OPENAPI, ASYNCAPI].flatMap(namesIn));

/** Every field of a schema, at any depth. */
export function fieldsOf(schema: unknown): string[] {
	const { properties, items } = resolved(schema);
	return [
		...Object.entries(resolved(properties)).flatMap(([name, inner]) => [name, ...fieldsOf(inner)]),
		...(items === undefined ? [] : fieldsOf(items)),
	];
}

/** The fields of a schema without those of its parts. */
export const propertiesOf = (schema: unknown): JsonObject => resolved(resolved(schema).properties);
