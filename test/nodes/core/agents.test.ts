import { findAgents } from '../../../nodes/core/agents';
import { ApiMapping, type MappingName } from '../../../nodes/core/profile/apiMapping';
import type { JsonValue } from '../../../nodes/core/values/json';
import { explainedBy } from './values/explainedBy';

type Details = { [name in MappingName]?: string };

const find = (response: JsonValue, details: Details = {}) =>
	findAgents(response, new ApiMapping(details));
const named = (response: JsonValue, details?: Details) =>
	find(response, details).map(({ uuid, name }) => [uuid, name]);

const BY_KEY: Details = { agentsPath: 'data.agents', agentsIdPlace: 'key' };
const BY_FIELD: Details = { agentsPath: 'data.agents', agentsIdPlace: 'field' };

test('finds agents by agent_uuid at any position, each once, the outermost first', () => {
	const response: JsonValue = {
		data: {
			north: [{ agent_uuid: 'agent_a1', agent_name: 'Sales' }],
			south: [{ agent: { agent_uuid: 'agent_b2' } }, { of: { it: { agent_uuid: 'agent_a1' } } }],
		},
	};
	expect(named(response)).toEqual([
		['agent_a1', 'Sales'],
		['agent_b2', 'agent_b2'],
	]);
	expect(find(response)[0]?.record).toEqual({ agent_uuid: 'agent_a1', agent_name: 'Sales' });
});

test.each<JsonValue>([
	{ success: true, data: [] },
	{ success: true, data: { agents: [], count: 0 } },
])('%j is an account without active agents', (response) => {
	expect(find(response)).toEqual([]);
});

test.each<[string, Details, JsonValue]>([
	['under their IDs', BY_KEY, { agent_a1: { agent_name: 'Sales' }, agent_b2: { agent_name: 'B' } }],
	['names under their IDs', BY_KEY, { agent_a1: 'Sales', agent_b2: 'B' }],
	[
		'with the ID and the name elsewhere',
		{ ...BY_FIELD, agentsIdPath: 'ref.id', agentsNamePath: 't' },
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
])('with the API mapping, finds agents %s', (_how, details, agents) => {
	const response = { data: { agents, inactive: [{ agent_uuid: 'agent_z9' }] } };
	expect(named(response, details)).toEqual([
		['agent_a1', 'Sales'],
		['agent_b2', 'B'],
	]);
	expect(find(response, details)[0]?.record).toMatchObject({
		...{ agent_uuid: 'agent_a1', agent_name: 'Sales' },
	});
});

test('with the API mapping, finds IDs alone', () => {
	expect(find(['agent_a1'], { agentsPath: '.', agentsIdPlace: 'entry' })).toEqual([
		{ uuid: 'agent_a1', name: 'agent_a1', record: { agent_uuid: 'agent_a1' } },
	]);
});

const FILL_IN =
	/turn on 'Set Up the List of Agents' and fill in 'Path to Agents in Response'.*The response contains /;
const CHECK_PATH = /check 'Path to Agents in Response'\./;
const CHECK_PLACE = /check 'Path to Agents in Response', 'Location of Agent ID'/;

test.each<[string, Details, JsonValue, resolution: RegExp]>([
	['nothing', {}, null, FILL_IN],
	['no list', {}, { success: true, data: {} }, FILL_IN],
	['IDs as keys', {}, { data: { agent_a1: { title: 'Sales' } } }, FILL_IN],
	['IDs as keys beside an empty list', {}, { data: { agent_a1: { tags: [] } } }, FILL_IN],
	['IDs alone', {}, { data: ['agent_a1'] }, FILL_IN],
	['IDs under another name', {}, { data: [{ id: 'agent_a1', lines: [] }] }, FILL_IN],
	['something else', {}, { data: [{ id: 7 }] }, FILL_IN],
	['no list at the path', BY_KEY, { data: {} }, CHECK_PATH],
	['null at the path', BY_KEY, { data: { agents: null } }, CHECK_PATH],
	['a word at the path', BY_KEY, { data: { agents: 'a1' } }, CHECK_PATH],
	[
		'an agent without the ID',
		{ ...BY_FIELD, agentsIdPath: 'id' },
		{ data: { agents: [{ id: 'agent_a1' }, { uuid: 'agent_b2' }] } },
		CHECK_PLACE,
	],
	[
		'a field above the agents',
		{ ...BY_KEY, agentsPath: 'data' },
		{ data: { agents: { agent_a1: {} } } },
		CHECK_PLACE,
	],
])('%s is no list of agents, and the error says what to set', (...one) => {
	const [, details, response, resolution] = one;
	expect(explainedBy(() => find(response, details))).toMatchObject({
		message: 'The response has no recognizable list of active agents',
		resolution: expect.stringMatching(resolution),
	});
});

test('an incomplete mapping names all missing fields', () => {
	expect(explainedBy(() => find({ data: [] }, { agentsIdPlace: 'field' }))).toMatchObject({
		message: 'The credential lacks settings for the list of agents',
		resolution: expect.stringContaining(
			"fill in 'Path to Agents in Response' and 'Path to ID in Each Agent'.",
		),
	});
});
