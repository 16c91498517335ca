import { globSync } from 'node:fs';
import path from 'node:path';
import { itemsOfDocument } from '../document/document';
import { loader, setupEngine } from '../engine';
import { ROOT } from '../engine/sourceLoader';
import {
	hasSchema,
	keysOf,
	nameOf,
	readSchema,
	schemaFaults,
	schemaPath,
	type Schema,
	type SchemaKey,
} from './schemas';

/** Operations with an undocumented output. */
const UNDOCUMENTED_OUTPUTS = ['chatDeliveryTrigger', 'dnd › add'];

/** Names of request fields and of the envelope in the sections below, and of fields that the output has by key. */
const NOT_IN_OUTPUT = [
	'success',
	'error',
	'agent_uuid',
	'data_captured',
	'post_call_analysis',
	'tag',
];

/** The fields of `tag`, as the flat record of a call names them. */
const FLAT_NAMES = new Map([
	['id', 'tag_id'],
	['name', 'tag_name'],
	['color_code', 'tag_color_code'],
]);

/** Operations that return a whole documented response, and the section with its fields. */
const WHOLE_RESPONSES: Array<[SchemaKey, section: string]> = [
	[
		{ node: 'placeCall', resource: 'call', operation: 'place' },
		'POST /v1/call (and legacy POST /call)',
	],
	[{ node: 'injectContext' }, 'POST /v1/chat/session/{id}/inject_context'],
	[{ node: 'callCompletedTrigger', version: 2 }, 'Call record (response of `GET /v1/call/{id}`)'],
	[{ node: 'campaignCallsTrigger' }, 'Call record (response of `GET /v1/call/{id}`)'],
	[{ node: 'getCall', resource: 'call', operation: 'getTranscript' }, 'Transcript'],
	[{ node: 'getCall', resource: 'call', operation: 'getRecording' }, 'Recording'],
];

const LEGACY: Array<[operation: string, fields: string[]]> = [
	['legacyCreate', ['session_id', 'agent_name', 'started_at', 'welcome_message']],
	['legacyClose', ['session_id', 'summary']],
	['legacyPause', ['session_id', 'message']],
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

test.each(WHOLE_RESPONSES.map(([key, section]) => ({ name: nameOf(key), key, section })))(
	'$name has every field of its response: $section',
	({ key, section }) => {
		const documented = itemsOfDocument()
			.filter((item) => item.section === section && /^[\w.]+$/.test(item.name))
			.map(({ name }) => FLAT_NAMES.get(name) ?? name.replace('data.', ''))
			.filter((name) => !NOT_IN_OUTPUT.includes(name));
		expect(documented.length).toBeGreaterThan(1);
		expect(fieldsOf(readSchema(key))).toEqual(expect.arrayContaining(documented));
	},
);

test('an entry of the do-not-disturb list has every documented field', () => {
	const documented = itemsOfDocument().filter(({ section }) => section === 'DND entry');
	const fields = Object.keys(
		readSchema({ node: 'dnd', resource: 'number', operation: 'getMany' }).properties ?? {},
	);
	expect(fields.sort()).toEqual(documented.map(({ name }) => name).sort());
});

test.each(LEGACY)('%s has the documented fields', (operation, fields) => {
	const key = { node: 'chatSession', version: 1, resource: 'legacy', operation };
	expect(fieldsOf(readSchema(key))).toEqual(fields);
});
