/** Forms allow what docs/openapi.yaml allows, and their texts say so. */
import camelCase from 'lodash/camelCase';
import { LIMITS } from '../../nodes/core/service/limits';
import { setupAllNodes } from '../engine';
import { allParameters } from '../package/descriptions';
import { isObject, type JsonObject } from '../simulator/json';
import { boundOf, ENDPOINTS, OPENAPI, resolved } from './openapi';

/** A field of a request, such as `retry_config.max_attempts`, which forms call `retryMaxAttempts`. */
type RequestField = { path: string; name: string; schema: JsonObject };

const nameInForm = (path: string) => camelCase(path.replace('_config.', '_'));

function fieldsIn(schema: unknown, above = ''): RequestField[] {
	const { properties, items } = resolved(schema);
	if (items !== undefined) return fieldsIn(items, above);
	return Object.entries(resolved(properties)).flatMap(([key, inner]) => {
		const path = `${above}${key}`;
		const field = { path, name: nameInForm(path), schema: resolved(inner) };
		// The name of a field in these objects is clear without theirs.
		const isNamedAlone = ['call_config_overrides', 'data_extraction'].includes(key);
		return [field, ...fieldsIn(inner, isNamedAlone ? '' : `${path}.`)];
	});
}

const fields = ENDPOINTS.flatMap(({ body }) => fieldsIn(body));

beforeAll(setupAllNodes);

/** The parameters of the forms for fields with a bound. */
const bounded = () =>
	allParameters().flatMap(({ place, property }) => {
		const { schema = {} } = fields.find(({ name }) => name === property.name) ?? {};
		const hasBound = property.type === 'number' || 'maxLength' in schema;
		return hasBound && Object.keys(schema).length > 0 ? [{ place, property, schema }] : [];
	});

test('each number of a request has the documented bounds, and each description names them', () => {
	expect(bounded().length).toBeGreaterThan(6);
	for (const { place, property, schema } of bounded()) {
		const { minimum, maximum, maxLength } = schema;
		const { minValue, maxValue } = property.typeOptions ?? {};
		expect({ place, minValue, maxValue }).toEqual({ place, minValue: minimum, maxValue: maximum });
		const bounds =
			maxLength === undefined
				? `from ${Number(minimum)} to ${Number(maximum)}`
				: `at most ${Number(maxLength)} characters`;
		expect(property.description).toContain(bounds);
	}
});

test('Options of Place Call has each documented setting of a call', () => {
	const options = allParameters().filter(({ place }) => /Place Call › Options › /.test(place));
	const documented = fieldsIn({ $ref: '#/components/schemas/CallConfigOverrides' })
		.filter(({ schema }) => !isObject(schema.properties))
		.map(({ name }) => name);
	expect(options.map(({ property }) => property.name)).toEqual(expect.arrayContaining(documented));
});

test('the limits that no form shows', () => {
	const { apiToken } = resolved(resolved(OPENAPI.components).securitySchemes);
	expect(LIMITS).toMatchObject({
		initialGreetingCharacters: boundOf('CallRequest.properties.initial_greeting.maxLength'),
		contactsPerRequest: boundOf('ContactsRequest.properties.contacts.maxItems'),
		dndEntriesPerPage: boundOf('PageMeta.properties.per_page.maximum'),
		apiTokenCharacters: resolved(apiToken)['x-length'],
	});
});
