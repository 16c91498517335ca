import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadOutputSchema } from 'n8n-core';
import { writeSchemas } from '../../scripts/outputSchemas';
import { loader, setupEngine } from '../engine';
import { hasSchema, keysOf, nameOf, schemaFaults, schemaOf, schemaRef } from './schemas';

/** Operations with an undocumented output. */
const UNDOCUMENTED_OUTPUTS = ['chatDeliveryTrigger', 'dnd › add'];

let folder = '';

beforeAll(async () => {
	await setupEngine();
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

test('each schema describes an item with fields', () => {
	for (const key of keysOf(loader.types.nodes).filter(hasSchema)) {
		const { type, version, properties = {} } = schemaOf(key);
		expect([nameOf(key), type, version]).toEqual([nameOf(key), 'object', 1]);
		expect(Object.keys(properties)).not.toEqual([]);
		expect(schemaFaults(key, [])).toEqual([' must be object']);
	}
});
