/** What docs/openapi.yaml describes, for the simulated service and the tests. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';
import get from 'lodash/get';
import uniq from 'lodash/uniq';
import { ROOT } from '../engine/sourceLoader';
import { isObject, type JsonObject } from '../simulator/json';

/** Marks what the service doesn't document. Nobody may guess it. */
export const NOT_SHOWN = 'x-not-shown';

export interface Endpoint {
	/** Such as `GET /v1/call/{id}`. */
	name: string;
	method: string;
	path: string;
	operationId: string;
	operation: JsonObject;
	/** The schemas of the documented query parameters. */
	query: JsonObject;
	/** The schema of the body, if the description has one. */
	body: JsonObject | undefined;
	isBodyRequired: boolean;
	/** By status, and `default` for bodies whose status isn't shown. */
	responses: { [status: string]: JsonObject };
}

export function readDescription(file: string): JsonObject {
	const description = load(readFileSync(path.join(ROOT, file), 'utf8'));
	if (!isObject(description)) throw new Error(`${file} has no object`);
	return description;
}

export const OPENAPI = readDescription('docs/openapi.yaml');

/** A bound of a schema, such as `CallRequest.properties.initial_greeting.maxLength`. */
export function boundOf(schemaPath: string): number {
	const bound: unknown = get(OPENAPI, `components.schemas.${schemaPath}`);
	if (typeof bound !== 'number') throw new Error(`docs/openapi.yaml has no ${schemaPath}`);
	return bound;
}

/** The object, or the one that its `$ref` names. An empty object for anything else. */
export function resolved(node: unknown): JsonObject {
	if (!isObject(node)) return {};
	const { $ref: ref } = node;
	return typeof ref === 'string' ? resolved(get(OPENAPI, ref.slice(2).split('/'))) : node;
}

export const schemaNamed = (name: string): JsonObject =>
	resolved(get(OPENAPI, ['components', 'schemas', name]));

/** The schema of a request body or response, as it's written. */
export function schemaOf(withContent: unknown): JsonObject | undefined {
	const schema: unknown = get(resolved(withContent), ['content', 'application/json', 'schema']);
	return isObject(schema) ? schema : undefined;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Every endpoint, in the order of the description. */
export const ENDPOINTS: readonly Endpoint[] = Object.entries(resolved(OPENAPI.paths)).flatMap(
	([url, item]) =>
		Object.entries(resolved(item)).flatMap(([method, value]) => {
			if (method === 'parameters') return [];
			const operation = resolved(value);
			const parameters = listOf(operation.parameters).map(resolved);
			const responses = Object.entries(resolved(operation.responses));
			return {
				name: `${method.toUpperCase()} ${url}`,
				method: method.toUpperCase(),
				path: url,
				operationId: String(operation.operationId),
				operation,
				query: Object.fromEntries(parameters.map(({ name, schema }) => [String(name), schema])),
				body: schemaOf(operation.requestBody),
				isBodyRequired: resolved(operation.requestBody).required === true,
				responses: Object.fromEntries(
					responses.map(([status, response]) => [status, resolved(response)]),
				),
			};
		}),
);

/** The schemas of the IDs in a path. */
export function idsIn(url: string): unknown[] {
	const { parameters } = resolved(get(OPENAPI, ['paths', url]));
	return listOf(parameters).map((parameter) => resolved(parameter).schema);
}

const pathPatterns = ENDPOINTS.map(({ name, method, path: url }) => ({
	name,
	method,
	pattern: new RegExp(`^${url.replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The name of the endpoint that gets a request, or the request itself if none does. */
export function endpointOf(method: string, url: string): string {
	const isItsRequest = (one: (typeof pathPatterns)[number]) =>
		one.method === method && one.pattern.test(url);
	return pathPatterns.find(isItsRequest)?.name ?? `${method} ${url}`;
}

/** The members of a successful response, such as `data`. */
function membersOf(endpoint: string): JsonObject {
	const { responses = {} } = ENDPOINTS.find(({ name }) => name === endpoint) ?? {};
	return resolved(schemaOf(responses['200'])?.properties);
}

/** The schema of `data` in a successful response. */
export const dataOf = (endpoint: string): JsonObject => resolved(membersOf(endpoint).data);

/** Whether the description shows more of a successful response than `success`. */
export const isResponseShown = (endpoint: string): boolean =>
	Object.keys(membersOf(endpoint)).some((name) => name !== 'success');

/** The names of the schemas that a response can have. */
export function schemasOf(response: unknown): string[] {
	const { anyOf, $ref } = schemaOf(response) ?? {};
	const refs = [$ref, ...listOf(anyOf).map((one) => (isObject(one) ? one.$ref : undefined))];
	return refs.flatMap((ref) => (typeof ref === 'string' ? [ref.replace(/.*\//, '')] : []));
}

/** The schemas of errors whose status isn't shown. */
export const ERRORS_AT_ANY_STATUS: readonly string[] = uniq(
	ENDPOINTS.flatMap(({ responses }) => schemasOf(responses.default)),
);
