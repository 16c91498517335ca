import { findAgents } from '../../../nodes/core/agents';
import { ServiceProfile } from '../../../nodes/core/profile/serviceProfile';
import type { JsonValue } from '../../../nodes/core/values/json';
import { explainedBy } from './values/explainedBy';

type Details = { list?: string; id?: string; name?: string };

const find = (response: JsonValue, details: Details = {}) =>
	findAgents(response, { profile: new ServiceProfile({ agents: details }) });
const named = (response: JsonValue, details?: Details) =>
	find(response, details).map(({ uuid, name }) => [uuid, name]);

const BY_KEY: Details = { list: 'data.agents', id: '{key}' };

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
		{ list: 'data.agents', id: 'ref.id', name: 't' },
		[
			{ ref: { id: 'agent_a1' }, t: 'Sales' },
			{ ref: { id: 'agent_b2' }, t: 'B' },
		],
	],
	[
		'with agent_uuid, only in the given list',
		{ list: 'data.agents' },
		[
			{ agent_uuid: 'agent_a1', agent_name: 'Sales', backup: { agent_uuid: 'agent_c3' } },
			{ agent_uuid: 'agent_b2', agent_name: 'B' },
		],
	],
])('with a profile, finds agents %s', (_how, details, agents) => {
	const response = { data: { agents, inactive: [{ agent_uuid: 'agent_z9' }] } };
	expect(named(response, details)).toEqual([
		['agent_a1', 'Sales'],
		['agent_b2', 'B'],
	]);
	expect(find(response, details)[0]?.record).toMatchObject({
		...{ agent_uuid: 'agent_a1', agent_name: 'Sales' },
	});
});

test('with a profile, finds IDs alone', () => {
	expect(find(['agent_a1'], { list: '{response}', id: '{entry}' })).toEqual([
		{ uuid: 'agent_a1', name: 'agent_a1', record: { agent_uuid: 'agent_a1' } },
	]);
});

const CHECK = /^In n8n, check "list" and "id" in "agents".*The response contains /;

test.each<[string, Details, JsonValue]>([
	['nothing', {}, null],
	['no list', {}, { success: true, data: {} }],
	['IDs as keys', {}, { data: { agent_a1: { title: 'Sales' } } }],
	['IDs as keys beside an empty list', {}, { data: { agent_a1: { tags: [] } } }],
	['IDs alone', {}, { data: ['agent_a1'] }],
	['IDs under another name', {}, { data: [{ id: 'agent_a1', lines: [] }] }],
	['something else', {}, { data: [{ id: 7 }] }],
	['no list at the path', BY_KEY, { data: {} }],
	['null at the path', BY_KEY, { data: { agents: null } }],
	['a word at the path', BY_KEY, { data: { agents: 'a1' } }],
	[
		'an agent without the ID',
		{ list: 'data.agents', id: 'id' },
		{ data: { agents: [{ id: 'agent_a1' }, { uuid: 'agent_b2' }] } },
	],
	['a field above the agents', { ...BY_KEY, list: 'data' }, { data: { agents: { agent_a1: {} } } }],
])('%s is no list of agents, and the error says what to check', (_what, details, response) => {
	expect(explainedBy(() => find(response, details))).toMatchObject({
		message: 'The response has no recognizable list of active agents',
		resolution: expect.stringMatching(CHECK),
	});
});
