import { globSync } from 'node:fs';
import path from 'node:path';
import { loader, setupEngine } from '../engine';
import { ROOT } from '../engine/sourceLoader';
import { fieldsOf as fieldsOfSchema, propertiesOf } from '../openapi/names';
import { dataOf, schemaNamed } from '../openapi/openapi';
import { OPERATIONS } from '../operations/operations';
import {
	hasSchema,
	keysOf,
	nameOf,
	readSchema,
	schemaFaults,
	schemaPath,
	type Schema,
} from './schemas';

/** Operations with an undocumented output. */
const UNDOCUMENTED_OUTPUTS = ['chatDeliveryTrigger', 'dnd › add'];

/** Objects that the output has field by field. */
const NOT_IN_OUTPUT = ['data_captured', 'post_call_analysis', 'tag'];

/** The fields of `tag`, as the flat record of a call names them. */
const FLAT_NAMES = new Map([
	['id', 'tag_id'],
	['name', 'tag_name'],
	['color_code', 'tag_color_code'],
]);

/** Operations and triggers that return a whole documented response, and its endpoint. */
const WHOLE_RESPONSES = [
	...Object.entries(OPERATIONS).flatMap(([name, { returns }]) =>
		returns === undefined ? [] : { name, endpoint: returns },
	),
	...['callCompletedTrigger', 'campaignCallsTrigger'].map((name) => ({
		name,
		endpoint: 'GET /v1/call/{id}',
	})),
];

const fieldsOf = ({ properties = {}, items }: Schema): string[] => [
	...Object.entries(properties).flatMap(([name, inner]) => [name, ...fieldsOf(inner)]),
	...(items === undefined ? [] : fieldsOf(items)),
];

beforeAll(async () => {
	await setupEngine();
});

const keys = () => keysOf(loader.types.nodes);

test('each operation with a documented response has a schema where n8n looks for it', () => {
	const without = keys().filter((key) => !hasSchema(key));
	expect(without.map(nameOf)).toEqual(UNDOCUMENTED_OUTPUTS);
});

test('each schema file belongs to an operation', () => {
	const files = globSync('nodes/*/__schema__/**/*.json', { cwd: ROOT });
	const expected = keys().map((key) => path.relative(ROOT, schemaPath(key)));
	expect(files.filter((file) => !expected.includes(file))).toEqual([]);
});

test('each schema is readable for the editor and describes an item', () => {
	for (const key of keys().filter(hasSchema)) {
		const { type, version, properties = {} } = readSchema(key);
		expect([nameOf(key), type, version]).toEqual([nameOf(key), 'object', 1]);
		expect(Object.keys(properties)).not.toEqual([]);
		expect(schemaFaults(key, [])).toEqual([' must be object']);
	}
});

test.each(WHOLE_RESPONSES)(
	'$name has every field of its response: $endpoint',
	({ name, endpoint }) => {
		const documented = fieldsOfSchema(dataOf(endpoint))
			.map((field) => FLAT_NAMES.get(field) ?? field)
			.filter((field) => !NOT_IN_OUTPUT.includes(field));
		expect(documented.length).toBeGreaterThan(1);
		const key = keys().find((one) => nameOf(one) === name);
		const fields = key === undefined ? [] : fieldsOf(readSchema(key));
		expect(fields).toEqual(expect.arrayContaining(documented));
	},
);

test('an entry of the do-not-disturb list has every documented field', () => {
	const documented = Object.keys(propertiesOf(schemaNamed('DndEntry')));
	const fields = Object.keys(
		readSchema({ node: 'dnd', resource: 'number', operation: 'getMany' }).properties ?? {},
	);
	expect(fields.sort()).toEqual(documented.sort());
});
