import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadOutputSchema } from 'n8n-core';
import { writeSchemas } from '../../scripts/outputSchemas';
import { loader, setupAllNodes } from '../engine';
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
	...['person_name', 'phone_number', 'outcome', 'summary', 'tag', 'created_at', 'call_id'],
	...['opted_out', 'call_ended_reason_message', 'duration_seconds', 'retry_count', 'agent_name'],
	...['campaign_id', 'phone_key'],
];

test.each<[SchemaKey, string[]]>([
	[{ node: 'getCall', operation: 'getMany' }, []],
	[{ node: 'getCall', operation: 'get' }, ['transcript', 'recording']],
	[{ node: 'callCompletedTrigger' }, ['transcript', 'recording']],
	[{ node: 'campaignCallsTrigger' }, ['transcript', 'recording']],
])('a call of %j has the same columns as from every node, and what is included', (key, more) => {
	expect(Object.keys(schemaOf(key).properties ?? {})).toEqual([...SIMPLIFIED, ...more]);
});
