import { findAgents } from '../../../nodes/shared/agents';
import { ApiMapping, type MappingName } from '../../../nodes/shared/apiMapping';
import type { JsonValue } from '../../../nodes/shared/json';
import { explainedBy } from './explainedBy';

type Details = { [name in MappingName]?: string };

const find = (response: JsonValue, details: Details = {}) =>
	findAgents(response, new ApiMapping(details));
const KEYED: Details = { agentsPath: 'data.agents', agentsIdPlace: 'key' };
const NOT_RECOGNIZED = 'no recognizable list of active agents';

describe('by the documented agent_uuid', () => {
	test('finds agents at any position, each once, the outermost first', () => {
		const response: JsonValue = {
			data: {
				north: [{ agent_uuid: 'agent_a1', agent_name: 'Sales' }],
				south: [{ agent: { agent_uuid: 'agent_b2' } }, { of: { it: { agent_uuid: 'agent_a1' } } }],
			},
		};
		expect(find(response).map(({ uuid, name }) => [uuid, name])).toEqual([
			['agent_a1', 'Sales'],
			['agent_b2', 'agent_b2'],
		]);
		expect(find(response)[0]?.record).toEqual({ agent_uuid: 'agent_a1', agent_name: 'Sales' });
	});

	test.each<[string, JsonValue]>([
		['data', { success: true, data: [] }],
		['a list inside data', { success: true, data: { agents: [], count: 0 } }],
	])('an empty list in %s is an account without active agents', (_name, response) => {
		expect(find(response)).toEqual([]);
	});

	test.each<[string, JsonValue]>([
		['nothing', null],
		['no list', { success: true, data: {} }],
		['IDs as keys', { data: { agent_a1: { title: 'Sales' } } }],
		['IDs as keys beside an empty list', { data: { agent_a1: { tags: [] } } }],
		['IDs alone', { data: ['agent_a1'] }],
		['IDs under another name', { data: [{ id: 'agent_a1', lines: [] }] }],
		['something else', { data: [{ id: 7 }] }],
	])('%s is not an account without agents', (_name, response) => {
		expect(() => find(response)).toThrow(NOT_RECOGNIZED);
	});

	test('the resolution names the fields and the content of the response', () => {
		expect(explainedBy(() => find({ data: { agent_a1: { title: 'Sales' } } }))).toMatchObject({
			resolution: expect.stringMatching(
				/turn on 'Set Up the List of Agents' and fill in 'Path to Agents in Response'.*contains data \(an object\)/,
			),
		});
	});
});

describe('with the API mapping', () => {
	test.each<[string, Details, JsonValue]>([
		[
			'under their IDs',
			KEYED,
			{ agent_a1: { agent_name: 'Sales' }, agent_b2: { agent_name: 'B' } },
		],
		['names under their IDs', KEYED, { agent_a1: 'Sales', agent_b2: 'B' }],
		[
			'with the ID and the name elsewhere',
			{
				agentsPath: 'data.agents',
				agentsIdPlace: 'field',
				agentsIdPath: 'ref.id',
				agentsNamePath: 't',
			},
			[
				{ ref: { id: 'agent_a1' }, t: 'Sales' },
				{ ref: { id: 'agent_b2' }, t: 'B' },
			],
		],
		[
			'with agent_uuid, only in the given list',
			{ agentsPath: 'data.agents' },
			[
				{ agent_uuid: 'agent_a1', agent_name: 'Sales', backup: { agent_uuid: 'agent_c3' } },
				{ agent_uuid: 'agent_b2', agent_name: 'B' },
			],
		],
	])('%s', (_name, details, agents) => {
		const found = find({ data: { agents, inactive: [{ agent_uuid: 'agent_z9' }] } }, details);
		expect(found.map(({ uuid, name }) => [uuid, name])).toEqual([
			['agent_a1', 'Sales'],
			['agent_b2', 'B'],
		]);
		expect(found[0]?.record).toMatchObject({ agent_uuid: 'agent_a1', agent_name: 'Sales' });
	});

	test('IDs alone', () => {
		const details: Details = { agentsPath: '.', agentsIdPlace: 'entry' };
		expect(find(['agent_a1'], details)).toEqual([
			{ uuid: 'agent_a1', name: 'agent_a1', record: { agent_uuid: 'agent_a1' } },
		]);
	});

	test.each<[string, Details, JsonValue, RegExp]>([
		['no list there', KEYED, { data: {} }, /check 'Path to Agents in Response'/],
		['null there', KEYED, { data: { agents: null } }, /check 'Path to Agents in Response'/],
		['a word there', KEYED, { data: { agents: 'a1' } }, /check 'Path to Agents in Response'/],
		[
			'an agent without the ID',
			{ agentsPath: 'data', agentsIdPlace: 'field', agentsIdPath: 'id' },
			{ data: [{ id: 'agent_a1' }, { uuid: 'agent_b2' }] },
			/check 'Path to Agents in Response', 'Location of Agent ID'/,
		],
		[
			'a field above the agents',
			{ ...KEYED, agentsPath: 'data' },
			{ data: { agents: { agent_a1: {} } } },
			/check 'Path to Agents in Response', 'Location of Agent ID'/,
		],
	])('%s is an error', (_name, details, response, resolution) => {
		expect(() => find(response, details)).toThrow(NOT_RECOGNIZED);
		expect(explainedBy(() => find(response, details))).toMatchObject({
			resolution: expect.stringMatching(resolution),
		});
	});

	test('an incomplete mapping names all missing fields', () => {
		expect(() => find({ data: [] }, { agentsIdPlace: 'field' })).toThrow(
			'The credential lacks settings for the list of agents',
		);
		expect(explainedBy(() => find({ data: [] }, { agentsIdPlace: 'field' }))).toMatchObject({
			resolution: expect.stringContaining(
				"fill in 'Path to Agents in Response' and 'Path to ID in Each Agent'.",
			),
		});
	});
});
