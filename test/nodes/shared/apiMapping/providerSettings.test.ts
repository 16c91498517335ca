import { readFileSync } from 'node:fs';
import path from 'node:path';
import { explained, type ExplainedError } from '../../../../nodes/shared/api/errors';
import { ApiMapping } from '../../../../nodes/shared/apiMapping';
import { readProviderSettings } from '../../../../nodes/shared/apiMapping/providerSettings';
import {
	AGENTS_TOPIC,
	CALL_LIST_TOPIC,
	MAPPING_TOPICS,
	type MappingName,
	type MappingTopic,
} from '../../../../nodes/shared/apiMapping/topics';
import { apiMappingOf } from '../../../contract/credentialFor';
import { providerSettingsOf } from '../../../contract/providerBlock';
import { unguessable } from '../../../contract/unguessable';
import { dialects } from '../../../simulator';

const QUESTIONNAIRE = readFileSync(
	path.join(__dirname, '../../../../docs/provider-questionnaire.md'),
	'utf8',
);
const TEMPLATE = /```json\n(.*)```/s.exec(QUESTIONNAIRE)?.[1] ?? '';

const names = MAPPING_TOPICS.flatMap(({ fields }) => Object.keys(fields));
const isName = (name: string): name is MappingName => names.includes(name);
const emptyTopic = ({ fields }: MappingTopic) =>
	Object.fromEntries(Object.keys(fields).map((name) => [name, null]));

/** What the person reads of a block that cannot be used. */
function rejected(block: unknown): ExplainedError {
	return errorOf(() => {
		readProviderSettings(typeof block === 'string' ? block : JSON.stringify(block));
	});
}

function errorOf(act: () => void): ExplainedError {
	try {
		act();
	} catch (error) {
		return explained(error);
	}
	throw new Error('Nothing was said');
}

describe.each(Object.entries({ ...dialects, unguessable }))(
	'the block of a service that speaks %s',
	(_name, dialect) => {
		test('says all that the fields of the form would', () => {
			const fields = apiMappingOf(dialect);
			const fromBlock = new ApiMapping({
				providerSettings: JSON.stringify(providerSettingsOf(fields)),
			});
			const fromForm = new ApiMapping(fields);
			for (const name of names.filter(isName)) {
				expect([name, fromBlock.optional(name)]).toEqual([name, fromForm.optional(name)]);
			}
		});
	},
);

describe('the questionnaire', () => {
	test('has a block with every name of every topic, in their order', () => {
		const block: unknown = JSON.parse(TEMPLATE);
		const expected = MAPPING_TOPICS.map((topic) => [topic.name, Object.keys(topic.fields)]);
		const has = Object.entries(block ?? {}).map(([name, said]: [string, unknown]) => [
			name,
			Object.keys(said ?? {}),
		]);
		expect(has).toEqual(expected);
	});

	test('asks for every name and every choice, but for those of one kind that it asks for together', () => {
		const [questions = ''] = QUESTIONNAIRE.split('## The block');
		const together = MAPPING_TOPICS.find(({ name }) => name === 'chatQueryParameters');
		const asked = names.filter((name) => !Object.keys(together?.fields ?? {}).includes(name));
		expect(asked.filter((name) => !questions.includes(`\`${name}\``))).toEqual([]);
		const choices = MAPPING_TOPICS.flatMap(({ fields }) => Object.values(fields)).flatMap(
			(field) => field.choices ?? [],
		);
		expect(choices.filter(({ value }) => !questions.includes(`"${value}"`))).toEqual([]);
	});

	test('cannot be pasted back unanswered: each value that is needed is asked for', () => {
		const { resolution } = rejected(TEMPLATE);
		const needed = MAPPING_TOPICS.flatMap(({ fields }) =>
			Object.entries(fields).flatMap(([name, { optional }]) => (optional === true ? [] : [name])),
		);
		expect(needed.length).toBeGreaterThan(20);
		expect(needed.filter((name) => !resolution.includes(`“${name}”`))).toEqual([]);
	});
});

test('what an editor leaves before, between and after a block does no harm', () => {
	const agents = { ...emptyTopic(AGENTS_TOPIC), agentsPath: 'data.our\u00A0agents' };
	const pretty = JSON.stringify({ agents }, null, '\t').replaceAll('\t', '\u00A0\u00A0');
	for (const block of [`\uFEFF${pretty}`, `\u00A0${pretty}\u00A0\r\n`, pretty]) {
		const mapping = new ApiMapping({ providerSettings: block });
		expect(mapping.optional('agentsPath')).toBe('data.our\u00A0agents');
	}
});

describe('a block that cannot be used', () => {
	test('is told in a message that can be read, however long the block is', () => {
		const name = (index: number) => `${'x'.repeat(500)}${index}`;
		const names = Array.from({ length: 5_000 }, (_, index) => [name(index), 1]);
		const { resolution } = rejected(Object.fromEntries(names));
		expect(resolution.length).toBeLessThan(1_500);
		expect(resolution).toContain('and 4,990 more');
	});

	test('is told with everything that is wrong with it, and with what to do', () => {
		const { agentsPath: _left, ...agents } = emptyTopic(AGENTS_TOPIC);
		const block = {
			agents: { ...agents, agentsIdPlace: 'somewhere', agentsNamePath: 7, agentsColour: 'red' },
			callList: [],
			callLists: {},
		};
		expect(rejected(block)).toMatchObject({
			message: '“Settings From Your Provider” in the credential cannot be used as it is',
			resolution: `Correct it, or send this list to whoever provided it: ${[
				'the block has unknown names: “callLists”',
				'“callList” must hold names and values in curly brackets',
				'“agents” has unknown names: “agentsColour”',
				'“agents” lacks “agentsPath”',
				'“agentsIdPlace” in “agents” must be "field" or "entry" or "key", or null',
				'“agentsNamePath” in “agents” must be text in quotation marks, or null',
			].join('; ')}.`,
			outcome: 'not_sent',
		});
	});

	test('has no null where the service cannot do without', () => {
		const { resolution } = rejected({ callList: emptyTopic(CALL_LIST_TOPIC) });
		expect(resolution).toContain('“callListPath” in “callList” must be text in quotation marks;');
		expect(resolution).toMatch(
			/“callListPaging” in “callList” must be "cursor" or .*"pageFromOne"\.$/,
		);
		expect(resolution).not.toContain('callListDateForm');
	});

	test.each([
		['text', 'see attachment', /whole block.*from the first curly bracket to the last/],
		['a list', '[]', /whole block/],
		['cut off', '{ "agents": {', /whole block/],
		['typeset', '{ “agents”: {} }', /quotation marks were changed.*text file/],
		['with a comma at its end', '{ "agents": {}, }', /^Remove each comma .* closing bracket/],
		['with a comma in a topic', '{ "agents": { "agentsPath": "a,}" , \n } }', /^Remove each comma/],
		['with a comma and cut off', '{ "agents": {}, ', /whole block/],
	])('%s', (_what, text, resolution) => {
		expect(rejected(text)).toMatchObject({
			message: '“Settings From Your Provider” in the credential is not a block of settings',
			resolution: expect.stringMatching(resolution),
		});
	});

	const written = (topic: MappingTopic) => `"${topic.name}": ${JSON.stringify(emptyTopic(topic))}`;

	test.each(MAPPING_TOPICS.map((topic) => [topic.name, topic] as const))(
		'has %s once',
		(name, topic) => {
			const escaped = name.replace(/^./, (first) => `\\u00${first.charCodeAt(0).toString(16)}`);
			const own = written(topic);
			for (const again of [own, own.replace(name, escaped)]) {
				const { resolution } = rejected(`{ ${own}, ${again} }`);
				expect(resolution).toContain(`the block has "${name}" more than once`);
			}
		},
	);

	test('has each name of a topic once', () => {
		const [first] = Object.keys(AGENTS_TOPIC.fields);
		const block = `{ ${written(AGENTS_TOPIC).replace('{', `{ "${first}": "a", "${first}": "b",`)} }`;
		expect(rejected(block).resolution).toContain(`"agents" has "${first}" more than once`);
	});

	test('gives nothing, not even what is right in it', () => {
		const mapping = new ApiMapping({
			providerSettings: JSON.stringify({ agents: emptyTopic(AGENTS_TOPIC), more: {} }),
			dndAddAgentName: 'agent',
		});
		expect(() => mapping.optional('dndAddAgentName')).toThrow('cannot be used as it is');
	});
});

describe('the block and the fields of the form', () => {
	const agents = { ...emptyTopic(AGENTS_TOPIC), agentsPath: 'data.from_block' };
	const mapping = new ApiMapping({
		providerSettings: JSON.stringify({ agents }),
		agentsPath: 'data.from_form',
		agentsNamePath: 'title',
		callListPath: 'data.calls',
	});

	test('a topic of the block is answered by the block alone, any other by the form', () => {
		expect(mapping.optional('agentsPath')).toBe('data.from_block');
		expect(mapping.optional('agentsNamePath')).toBeUndefined();
		expect(mapping.optional('callListPath')).toBe('data.calls');
	});

	test('advice leads to where it is said', () => {
		expect(mapping.advice('agentsPath', 'agentsIdPlace')).toBe(
			'In the credential, check “agentsPath” and “agentsIdPlace” of “agents” in “Settings From Your Provider”.',
		);
		expect(mapping.advice('callListPath')).toBe(
			'In the credential, turn on “Set Up the Call List” and check “Path to List in Response”.',
		);
		const missing = errorOf(() => mapping.require(['agentsIdPath', 'callListPaging']));
		expect(missing).toMatchObject({
			message: 'The credential does not say yet: “Path to ID in Each Agent” and “Pagination”',
			resolution: expect.stringContaining(
				'In the credential, fill in “agentsIdPath” of “agents” in “Settings From Your Provider”, then turn on “Set Up the Call List” and fill in “Pagination”. Ask whoever provides your service',
			),
		});
	});

	test('a block that is no text, as an expression may give it, counts as well', () => {
		expect(new ApiMapping({ providerSettings: { agents } }).optional('agentsPath')).toBe(
			'data.from_block',
		);
		expect(() => new ApiMapping({ providerSettings: 7 }).optional('agentsPath')).toThrow(
			'not a block',
		);
	});

	test('an empty block says nothing', () => {
		expect(
			new ApiMapping({ providerSettings: ' \n', agentsPath: 'a' }).optional('agentsPath'),
		).toBe('a');
	});
});
