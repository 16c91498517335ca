import Ajv, { type ErrorObject, type Options } from 'ajv/dist/2020';
import compact from 'lodash/compact';
import mapValues from 'lodash/mapValues';
import memoize from 'lodash/memoize';
import partition from 'lodash/partition';
import uniq from 'lodash/uniq';
import { NOT_SHOWN, OPENAPI, schemaOf, type Endpoint } from '../../openapi/openapi';
import type { Dialect } from '../dialects';
import { undocumentedNames } from '../dialects/names';
import { isObject, type JsonObject } from '../json';
import type { Simulator } from '../simulator';
import { invalid, response, type SimulatorRequest, type SimulatorResponse } from './route';

/** Schemas that reject unknown members, unless any are allowed or some aren't documented. */
function closed(node: unknown): unknown {
	if (Array.isArray(node)) return node.map(closed);
	if (!isObject(node)) return node;
	const inner = Object.fromEntries(
		Object.entries(node).map(([key, value]) => [key, closed(value)]),
	);
	const isOpen = !isObject(node.properties) || 'additionalProperties' in node || NOT_SHOWN in node;
	return isOpen ? inner : { ...inner, additionalProperties: false };
}

const components = closed(OPENAPI.components);

const options: Options = {
	strict: false,
	allErrors: true,
	// `npm run lint` has checked the description.
	validateSchema: false,
	formats: { uri: (text: string) => URL.canParse(text) },
};
const bodies = new Ajv(options);
/** Values of a query are texts. */
const queries = new Ajv({ ...options, coerceTypes: true });

const validatorsOf = memoize(({ query, body = {} }: Endpoint) => ({
	query: queries.compile({ components, properties: query }),
	body: bodies.compile({ components, allOf: [closed(body)] }),
}));

/**
 * What the description of the interface, or the dialect for undocumented names, doesn't allow in a request. The path isn't
 * checked, because an ID of another form is an unknown ID.
 */
export function requestProblems(
	endpoint: Endpoint,
	{ query, body }: SimulatorRequest,
	dialect: Dialect,
): string[] {
	const validators = validatorsOf(endpoint);
	const names = undocumentedNames(dialect)[endpoint.operationId] ?? {};
	const errors = validators.query({ ...query }) ? [] : (validators.query.errors ?? []);
	const hasBody = body !== undefined || endpoint.isBodyRequired;
	if (hasBody && !validators.body(body)) errors.push(...(validators.body.errors ?? []));
	const { properties } = endpoint.body ?? {};
	const documented = isObject(properties) ? Object.keys(properties) : [];
	const isOpen = endpoint.body === undefined || NOT_SHOWN in endpoint.body;
	const { firstContactIndex, reportsEveryBadContact } = dialect.campaigns;
	const texts = uniq(errors.map((error) => textOf(error, firstContactIndex)));
	const [ofContacts, others] = partition(texts, (text) => text.startsWith('contacts['));
	return [
		...others,
		...(reportsEveryBadContact ? ofContacts : ofContacts.slice(0, 1)),
		...unknownNames(query, [...Object.keys(endpoint.query), ...(names.query ?? [])]),
		...(isOpen ? unknownNames(body, [...documented, ...(names.body ?? [])]) : []),
	];
}

/** Members that aren't allowed. Names with dots are nested. */
function unknownNames(value: unknown, allowed: readonly string[], path: string[] = []): string[] {
	if (value === undefined) return [];
	const name = path.join('.');
	if (allowed.includes(name)) return [];
	const isOnTheWay = path.length === 0 || allowed.some((other) => other.startsWith(`${name}.`));
	if (!isOnTheWay || typeof value !== 'object' || value === null) {
		return [`${name || 'body'} is unknown`];
	}
	return Object.entries(value).flatMap(([key, inner]) =>
		unknownNames(inner, allowed, [...path, key]),
	);
}

/** Such as `contacts[1].phone: must be string`. */
function textOf({ instancePath, params, message = '' }: ErrorObject, first: number): string {
	const { missingProperty, additionalProperty }: JsonObject = params;
	const missingOrUnknown = [missingProperty, additionalProperty].filter(
		(name) => typeof name === 'string',
	);
	const named = [...instancePath.split('/').slice(1), ...missingOrUnknown];
	const path = named.map((part, at) => {
		if (!/^\d+$/.test(part)) return `.${part}`;
		return `[${Number(part) + (named[at - 1] === 'contacts' ? first : 0)}]`;
	});
	return `${path.join('').slice(1) || 'body'}: ${message}`;
}

/** Schemas that need each member that they show. */
function whole(node: unknown): unknown {
	if (Array.isArray(node)) return node.map(whole);
	if (!isObject(node)) return node;
	const inner = mapValues(node, whole);
	const { properties } = inner;
	return isObject(properties) ? { ...inner, required: Object.keys(properties) } : inner;
}

const errorBodies = new Ajv(options);
const wholeComponents = whole(OPENAPI.components);

/** The bodies that an endpoint can have with a status. Undefined if the description doesn't show the status there. */
const errorsOf = memoize(
	({ responses }: Endpoint, status: number) => {
		const own = responses[status] ?? (status === 400 ? responses['422'] : undefined);
		if (own === undefined) return undefined;
		const anyOf = compact([own, responses.default].map(schemaOf)).map(whole);
		return errorBodies.compile({ components: wholeComponents, anyOf });
	},
	({ name }, status) => `${status} ${name}`,
);

/** @throws if the description of the interface has other errors with this status at the endpoint */
export function requireDocumented(endpoint: Endpoint, { status, body }: SimulatorResponse): void {
	if (status < 400 || errorsOf(endpoint, status)?.(body) !== false) return;
	throw new Error(`${endpoint.name} can't return ${status} with ${JSON.stringify(body)}`);
}

/** The response to such a request, with the documented status and form. */
export function invalidRequest(
	sim: Simulator,
	{ responses }: Endpoint,
	problems: string[],
): SimulatorResponse {
	const isList = schemaOf(responses['422'])?.$ref === '#/components/schemas/ErrorList';
	if (isList) return response(422, { success: false, errors: problems });
	return invalid(sim, problems, '400' in responses ? 400 : undefined);
}
