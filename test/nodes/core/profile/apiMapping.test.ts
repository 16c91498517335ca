import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ExplainedError } from '../../../../nodes/core/service/errors';
import { ApiMapping } from '../../../../nodes/core/profile/apiMapping';
import { readProviderSettings } from '../../../../nodes/core/profile/providerSettings';
import { AGENTS_TOPIC } from '../../../../nodes/core/profile/agents';
import { CALL_LIST_TOPIC } from '../../../../nodes/core/profile/callList';
import type { MappingTopic } from '../../../../nodes/core/profile/field';
import { MAPPING_TOPICS, type MappingName } from '../../../../nodes/core/profile/topics';
import { apiMappingOf } from '../../../contract/credentialFor';
import { providerSettingsOf } from '../../../contract/providerBlock';
import { dialects } from '../../../simulator';
import { explainedBy } from '../values/explainedBy';

const QUESTIONNAIRE = readFileSync(
	path.join(__dirname, '../../../../docs/provider-questionnaire.md'),
	'utf8',
);
const TEMPLATE = /```json\n(.*)```/s.exec(QUESTIONNAIRE)?.[1] ?? '';

const names = MAPPING_TOPICS.flatMap(({ fields }) => Object.keys(fields));
const isName = (name: string): name is MappingName => names.includes(name);
const emptyTopic = ({ fields }: MappingTopic) =>
	Object.fromEntries(Object.keys(fields).map((name) => [name, null]));

/** The error of an invalid block. */
function rejected(block: unknown): ExplainedError {
	return explainedBy(() => {
		readProviderSettings(typeof block === 'string' ? block : JSON.stringify(block));
	});
}

test('missing values have a message with what they are for, whom to ask, the switches, and the fields', () => {
	const mapping = new ApiMapping({ dndAddAgentName: ' ', dndAddPhoneName: ' phone ' });
	expect(explainedBy(() => mapping.required('dndAddAgentName'))).toMatchObject({
		outcome: 'not_sent',
		message: 'The credential lacks settings for do-not-disturb lists',
		resolution:
			"Send your service provider the questionnaire that is linked in the credential. Then turn on 'My Provider Sent Settings' there and paste the reply into 'Settings From Your Provider'. Or turn on 'Set Up Do-Not-Disturb Lists' and fill in 'Add Number: Agent Field Name'.",
	});
	const several = explainedBy(() =>
		mapping.require([
			...(['dndAddAgentName', 'dndAddPhoneName', 'dndAddPlacement'] as const),
			...(['dndAddAgentName', 'chatCreateAgentName'] as const),
		]),
	);
	expect(several).toMatchObject({
		message: 'The credential lacks settings for do-not-disturb lists and chat requests',
		resolution: expect.stringMatching(
			/ Or turn on 'Set Up Do-Not-Disturb Lists' and fill in 'Add Number: Agent Field Name' and 'Add Number: Send Values In', then turn on 'Set Up Chat Requests' and fill in 'Create Session: Agent Field Name'\.$/,
		),
	});
	expect(mapping.required('dndAddPhoneName')).toBe('phone');
});

test.each(Object.entries(dialects))(
	'the block of a service that speaks %s has the same values as the fields of the form',
	(_name, dialect) => {
		const fields = apiMappingOf(dialect);
		const fromBlock = new ApiMapping({
			providerSettings: JSON.stringify(providerSettingsOf(fields)),
		});
		const fromForm = new ApiMapping(fields);
		for (const name of names.filter(isName)) {
			expect([name, fromBlock.optional(name)]).toEqual([name, fromForm.optional(name)]);
		}
	},
);

describe('the questionnaire', () => {
	test('has a block with every name of every topic, in order', () => {
		const block: unknown = JSON.parse(TEMPLATE);
		const expected = MAPPING_TOPICS.map((topic) => [topic.name, Object.keys(topic.fields)]);
		const has = Object.entries(block ?? {}).map(([name, settings]: [string, unknown]) => [
			name,
			Object.keys(settings ?? {}),
		]);
		expect(has).toEqual(expected);
	});

	test('asks for every name and choice, except for the topic that it asks for as a whole', () => {
		const [questions = ''] = QUESTIONNAIRE.split('## The block');
		const together = MAPPING_TOPICS.find(({ name }) => name === 'chatQueryParameters');
		const asked = names.filter((name) => !Object.keys(together?.fields ?? {}).includes(name));
		expect(asked.filter((name) => !questions.includes(`\`${name}\``))).toEqual([]);
		const choices = MAPPING_TOPICS.flatMap(({ fields }) => Object.values(fields)).flatMap(
			(field) => field.choices ?? [],
		);
		expect(choices.filter(({ value }) => !questions.includes(`"${value}"`))).toEqual([]);
	});

	test('is rejected without values, and the message names each required value', () => {
		const { resolution } = rejected(TEMPLATE);
		const needed = MAPPING_TOPICS.flatMap(({ fields }) =>
			Object.entries(fields).flatMap(([name, { optional }]) => (optional === true ? [] : [name])),
		);
		expect(needed.length).toBeGreaterThan(20);
		expect(needed.filter((name) => !resolution.includes(`"${name}"`))).toEqual([]);
	});
});

test('accepts the white space that editors add to a block', () => {
	const agents = { ...emptyTopic(AGENTS_TOPIC), agentsPath: 'data.our\u00A0agents' };
	const pretty = JSON.stringify({ agents }, null, '\t').replaceAll('\t', '\u00A0\u00A0');
	for (const block of [`\uFEFF${pretty}`, `\u00A0${pretty}\u00A0\r\n`, pretty]) {
		const mapping = new ApiMapping({ providerSettings: block });
		expect(mapping.optional('agentsPath')).toBe('data.our\u00A0agents');
	}
});

test('ignores invisible characters that are copied from messages and web pages', () => {
	const agents = { ...emptyTopic(AGENTS_TOPIC), agentsPath: 'data.agents' };
	const block = JSON.stringify({ agents }, null, 1);
	for (const invisible of ['\u200B', '\u2060', '\u00AD', '\uFEFF']) {
		const pasted = [...block].join(invisible);
		expect(new ApiMapping({ providerSettings: pasted }).optional('agentsPath')).toBe('data.agents');
		const inForm = new ApiMapping({ agentsPath: `data${invisible}.agents${invisible}` });
		expect(inForm.optional('agentsPath')).toBe('data.agents');
	}
});

describe('an invalid block', () => {
	test('gets a short message, however long the block is', () => {
		const name = (index: number) => `${'x'.repeat(500)}${index}`;
		const names = Array.from({ length: 5_000 }, (_, index) => [name(index), 1]);
		const { resolution } = rejected(Object.fromEntries(names));
		expect(resolution.length).toBeLessThan(1_500);
		expect(resolution).toContain('and 4990 more');
	});

	test('gets a message that lists all invalid values', () => {
		const { agentsPath: _left, ...agents } = emptyTopic(AGENTS_TOPIC);
		const block = {
			agents: { ...agents, agentsIdPlace: 'somewhere', agentsNamePath: ' ', agentsColor: 'red' },
			callList: [],
			callLists: {},
		};
		expect(rejected(block)).toMatchObject({
			message: "'Settings From Your Provider' in the credential has invalid values",
			resolution: `Correct them, or send this list to your provider: ${[
				'the block has unknown names: "callLists"',
				'"callList" must be an object in curly brackets',
				'"agents" has unknown names: "agentsColor"',
				'"agents" lacks "agentsPath"',
				'"agentsIdPlace" in "agents" must be "field" or "entry" or "key", or null',
				'"agentsNamePath" in "agents" is empty (write null if there is none)',
			].join('; ')}.`,
			outcome: 'not_sent',
		});
	});

	test('has null for a required value', () => {
		const { resolution } = rejected({ callList: emptyTopic(CALL_LIST_TOPIC) });
		expect(resolution).toContain('"callListPath" in "callList" must be text in quotation marks;');
		expect(resolution).toMatch(
			/"callListPaging" in "callList" must be "cursor" or .*"pageFromOne"\.$/,
		);
		expect(resolution).not.toContain('callListDateForm');
	});

	test.each([
		['text', 'see attachment'],
		['a list', '[]'],
		['cut off', '{ "agents": {'],
		['typeset', '{ “agents”: {} }'],
		['with a comma at its end', '{ "agents": {}, }'],
	])('%s', (_name, text) => {
		expect(rejected(text)).toMatchObject({
			message: "'Settings From Your Provider' in the credential isn't a valid block of settings",
			resolution: expect.stringMatching(/first curly bracket to the last.*straight.*no comma/),
		});
	});

	test('is not used at all', () => {
		const mapping = new ApiMapping({
			providerSettings: JSON.stringify({ agents: emptyTopic(AGENTS_TOPIC), more: {} }),
			dndAddAgentName: 'agent',
		});
		expect(() => mapping.optional('dndAddAgentName')).toThrow('has invalid values');
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

	test('a topic in the block replaces the fields of the form, and other topics do not', () => {
		expect(mapping.optional('agentsPath')).toBe('data.from_block');
		expect(mapping.optional('agentsNamePath')).toBeUndefined();
		expect(mapping.optional('callListPath')).toBe('data.calls');
	});

	test('a resolution names the block or the field of the form', () => {
		expect(mapping.resolution('agentsPath', 'agentsIdPlace')).toBe(
			`In the credential, check "agentsPath" and "agentsIdPlace" of "agents" in 'Settings From Your Provider'.`,
		);
		expect(mapping.resolution('callListPath')).toBe(
			"In the credential, turn on 'My Provider Sent Settings', then turn on 'Set Up the Call List' and check 'Path to List in Response'.",
		);
		const missing = explainedBy(() => mapping.require(['agentsIdPath', 'callListPaging']));
		expect(missing).toMatchObject({
			message: 'The credential lacks settings for the list of agents and the call list',
			resolution: expect.stringContaining(
				`'Settings From Your Provider'. Or fill in "agentsIdPath" of "agents" in 'Settings From Your Provider', then turn on 'Set Up the Call List' and fill in 'Pagination'.`,
			),
		});
	});

	test('a block may be an object, such as from an expression, and an empty one is ignored', () => {
		const pathIn = (providerSettings: unknown) =>
			new ApiMapping({ providerSettings, agentsPath: 'a' }).optional('agentsPath');
		expect(pathIn({ agents })).toBe('data.from_block');
		expect(pathIn(' \n')).toBe('a');
		expect(() => pathIn(7)).toThrow("isn't a valid block");
	});
});
