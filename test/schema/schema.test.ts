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

/** What these put out is open altogether. */
const OPEN_ANSWERS = ['chatDeliveryTrigger', 'dnd › add'];

/** Names of request fields and of the envelope that stand in the same section as an answer's. */
const NOT_IN_ANSWER = ['success', 'error', 'agent_uuid', 'contacts', 'enqueue'];

/** Operations that put out a documented answer whole, and the section that holds its fields. */
const WHOLE_ANSWERS: Array<[SchemaKey, section: string]> = [
	[
		{ node: 'placeCall', resource: 'call', operation: 'place' },
		'POST /v1/call (and legacy POST /call)',
	],
	[{ node: 'pushCampaignContacts' }, 'POST /v1/campaigns/{id}/contacts'],
	[{ node: 'injectContext' }, 'POST /v1/chat/session/{id}/inject_context'],
	[{ node: 'callCompletedTrigger' }, 'Call record (response of `GET /v1/call/{id}`)'],
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

test('each operation whose answer is documented has a schema where n8n looks for it', () => {
	const without = keys().filter((key) => !hasSchema(key));
	expect(without.map(nameOf)).toEqual(OPEN_ANSWERS);
});

test('each schema file belongs to an operation', () => {
	const files = globSync('nodes/*/__schema__/**/*.json', { cwd: ROOT });
	const looked = keys().map((key) => path.relative(ROOT, schemaPath(key)));
	expect(files.filter((file) => !looked.includes(file))).toEqual([]);
});

test('each schema can be read as n8n’s editor does, and describes an item', () => {
	for (const key of keys().filter(hasSchema)) {
		const { type, version, properties = {} } = readSchema(key);
		expect([nameOf(key), type, version]).toEqual([nameOf(key), 'object', 1]);
		expect(Object.keys(properties)).not.toEqual([]);
		expect(schemaFaults(key, [])).toEqual([' must be object']);
	}
});

test.each(WHOLE_ANSWERS.map(([key, section]) => ({ name: nameOf(key), key, section })))(
	'$name has every field of its answer: $section',
	({ key, section }) => {
		const documented = itemsOfDocument()
			.filter((item) => item.section === section && /^[\w.]+$/.test(item.name))
			.map(({ name }) => name.replace('data.', ''))
			.filter((name) => !NOT_IN_ANSWER.includes(name));
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
