import { engineTool, hintsOf, searchList, service } from '../../engine';
import { nodeHarness } from '../nodeHarness';

const harness = nodeHarness('agents');
const agents = (query = {}) => service().get('/v1/active_agents').query(query);
const LIST = {
	success: true,
	data: {
		page: [
			{ agent: { agent_uuid: 'agent_a1', agent_name: 'Sales' }, line: '+91' },
			{ agent: { agent_uuid: 'agent_b2', voice: 'calm' } },
		],
	},
	meta: { more: false },
};

test('Get Many Active reads the list once, and pairs each agent with the first item', async () => {
	agents({ team: 'north' }).reply(200, LIST);
	const options = { additionalQueryParameters: '{ "team": "north" }' };
	const parameters = { operation: 'getMany', options };
	const pairedItem = { item: 0 };
	expect(await harness.executeItems(parameters, { items: [{}, {}, {}] })).toEqual([
		{ json: { agent_uuid: 'agent_a1', agent_name: 'Sales' }, pairedItem },
		{ json: { agent_uuid: 'agent_b2', voice: 'calm' }, pairedItem },
	]);
});

test.each([
	['simplified', 'only 2 of the active agents'],
	['raw', 'only some of the active agents'],
])("Get Many Active with '%s' output says if the response has %s", async (output, words) => {
	const parameters = { operation: 'getMany', output };
	const meta = { total_pages: 3, total_count: 60 };
	agents()
		.times(2)
		.reply(200, { ...LIST, meta });
	const run = await harness.run(parameters);
	expect(hintsOf(run)).toEqual([expect.stringContaining(`The response has ${words}.`)]);
	const tool = engineTool(harness.node('agents', { parameters }));
	expect(await tool()).toMatchObject({
		outcome: 'done',
		what_happened: `The data was read. The response has ${words}.`,
		next_step: expect.stringContaining('Do not treat this list as complete.'),
		result: expect.anything(),
	});
});

describe('Check', () => {
	const check = {
		operation: 'check',
		agentUuid: { __rl: true, mode: 'id', value: '={{ $json.id }}' },
	};
	const items = ['agent_b2', 'sales', 'agent_gone', 'agent_a1'].map((id) => ({ id }));
	const overrides = { onError: 'continueRegularOutput' } as const;

	test('checks each agent with one read of the list, and an invalid ID fails only its item', async () => {
		agents().reply(200, LIST);
		expect(await harness.records(check, { items, overrides })).toMatchObject([
			{ agent_uuid: 'agent_b2', voice: 'calm', active: true },
			{ error: `'Agent' must be an agent ID (got "sales") [row 2]` },
			{ agent_uuid: 'agent_gone', active: false },
			{ agent_uuid: 'agent_a1', agent_name: 'Sales', active: true },
		]);
	});

	test.each<[object, boolean]>([
		[{ current_page: 1, total_pages: 3, total_count: 30, per_page: 2 }, true],
		[{ total_pages: '2' }, true],
		[{ total_count: 3 }, true],
		[{ current_page: 1, total_pages: 1, total_count: 2, per_page: 100 }, false],
		[{ total_pages: 0 }, false],
	])('meta %j: an agent that is not in the response may be active: %p', async (meta, may) => {
		agents().reply(200, { ...LIST, meta });
		const [missing, listed] = await harness.records(check, { items: items.slice(2), overrides });
		expect(missing).toMatchObject(
			may
				? { error: expect.stringContaining("so it's unknown whether this agent is active") }
				: { agent_uuid: 'agent_gone', active: false },
		);
		expect(listed).toMatchObject({ agent_uuid: 'agent_a1', active: true });
	});

	test('an unreadable list is requested only once', async () => {
		agents().times(4).reply(503, '');
		const found = await harness.records(check, { items: items.slice(2), overrides });
		expect(found.map(({ error }) => error)).toEqual([
			'The service or a proxy returned HTTP status 503 [row 1]',
			'The service or a proxy returned HTTP status 503 [row 2]',
		]);
	});
});

test('the Agent field offers the active agents', async () => {
	agents().reply(200, LIST);
	const { results } = await searchList(harness.node('agents'), 'searchAgents', 'sal');
	expect(results).toEqual([{ name: 'Sales', value: 'agent_a1' }]);
});

test('agents that are not recognized are an error that says whom to ask', async () => {
	agents()
		.times(2)
		.reply(200, { success: true, data: { agent_a1: 'Sales' } });
	const search = searchList(harness.node('placeCall'), 'searchAgents', '');
	await expect(search).rejects.toThrow('The response has no recognizable list of active agents');
	expect(await harness.errorOf({ operation: 'getMany' })).toMatchObject({
		message: 'The response has no recognizable list of active agents',
		description: expect.stringContaining('In n8n, add "agents" to'),
	});
});

test.each<[string, object]>([
	['{response}', []],
	['agents', { agents: [] }],
	['agents', { agents: {} }],
])('with the list %j, %j has no active agents', async (list, body) => {
	const credential = { serviceProfile: { agents: { list } } };
	agents().times(3).reply(200, body);
	expect(await harness.records({ operation: 'getMany' }, { credential })).toEqual([]);
	const check = { operation: 'check', agentUuid: { __rl: true, mode: 'id', value: 'agent_b2' } };
	expect(await harness.records(check, { credential })).toEqual([
		{ agent_uuid: 'agent_b2', active: false },
	]);
	const node = await harness.nodeWith(credential, 'agents');
	expect(await searchList(node, 'searchAgents')).toEqual({ results: [] });
});
