import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import without from 'lodash/without';
import { loadOutputSchema } from 'n8n-core';
import { writeSchemas } from '../../scripts/outputSchemas';
import { loader, setupAllNodes } from '../engine';
import { propertiesOf } from '../openapi/names';
import { dataOf } from '../openapi/openapi';
import {
	hasSchema,
	keysOf,
	nameOf,
	schemaFaults,
	schemaOf,
	schemaRef,
	type SchemaKey,
} from './schemas';

/** Operations with an undocumented output. */
const UNDOCUMENTED_OUTPUTS = ['chatDeliveryTrigger', 'dnd › add'];

let folder = '';

beforeAll(() => {
	setupAllNodes();
	folder = mkdtempSync(path.join(tmpdir(), 'schemas-'));
	writeSchemas(folder, loader.types.nodes);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('n8n finds a schema for each operation with a documented output', () => {
	for (const key of keysOf(loader.types.nodes)) {
		const expected = UNDOCUMENTED_OUTPUTS.includes(nameOf(key)) ? undefined : schemaOf(key);
		expect([nameOf(key), loadOutputSchema(schemaRef(key, folder))]).toEqual([
			nameOf(key),
			expected,
		]);
	}
});

test('n8n finds a schema by the version, resource, and operation of a node', () => {
	const ref = { nodeDir: path.join(folder, 'GetCall'), resource: 'call', operation: 'get' };
	expect(loadOutputSchema({ ...ref, version: 1 })).toMatchObject({ type: 'object' });
	const trigger = { nodeDir: path.join(folder, 'CallCompletedTrigger'), version: 2 };
	expect(loadOutputSchema(trigger)).toMatchObject({ type: 'object' });
});

test('each schema describes an item with fields', () => {
	for (const key of keysOf(loader.types.nodes).filter(hasSchema)) {
		const { type, version, properties = {} } = schemaOf(key);
		expect([nameOf(key), type, version]).toEqual([nameOf(key), 'object', 1]);
		expect(Object.keys(properties)).not.toEqual([]);
		expect(schemaFaults(key, [])).toEqual([' must be object']);
	}
});

const SIMPLIFIED = [
	...['outcome', 'answered', 'opted_out', 'status', 'retry_count', 'duration_seconds', 'summary'],
	...['tag_id', 'tag_name', 'tag_color_code', 'caller_name', 'phone_number', 'phone_key'],
	...['agent_name', 'call_ended_reason_message', 'call_id', 'created_at', 'call_picked_at'],
];

test('a simplified call has what a person looks for, and a completed one every documented field', () => {
	const fieldsOf = (key: SchemaKey) => Object.keys(schemaOf(key).properties ?? {});
	expect(fieldsOf({ node: 'getCall', operation: 'getMany' })).toEqual(SIMPLIFIED);
	const documented = Object.keys(propertiesOf(dataOf('GET /v1/call/{id}')));
	// Their values are in fields of their own.
	const flat = without(documented, 'tag', 'data_captured', 'post_call_analysis');
	expect(fieldsOf({ node: 'callCompletedTrigger' })).toEqual(
		expect.arrayContaining([...SIMPLIFIED, ...flat, 'transcript', 'recording']),
	);
});
