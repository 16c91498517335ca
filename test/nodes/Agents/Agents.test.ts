import {
	PROVIDER_SENT_SETTINGS,
	PROVIDER_SETTINGS,
} from '../../../nodes/shared/apiMapping/providerSettings';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { output, searchList, service } from '../../engine';
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

describe('Get Many Active', () => {
	const many = { operation: 'getMany' };

	test('returns one item per agent, unchanged', async () => {
		agents().reply(200, LIST);
		expect(await harness.records(many)).toEqual([
			{ agent_uuid: 'agent_a1', agent_name: 'Sales' },
			{ agent_uuid: 'agent_b2', voice: 'calm' },
		]);
	});

	test('no agent is active', async () => {
		agents().reply(200, { success: true, data: [] });
		expect(await harness.records(many)).toEqual([]);
	});

	test('reads the list once for all items, and pairs the output with all of them', async () => {
		agents().reply(200, LIST);
		const found = await harness.executeItems(many, { items: [{}, {}, {}] });
		expect(found.map(({ pairedItem }) => pairedItem)).toEqual(
			Array.from({ length: 2 }, () => [{ item: 0 }, { item: 1 }, { item: 2 }]),
		);
	});

	test('with additional query parameters', async () => {
		agents({ team: 'north' }).reply(200, LIST);
		const developerSettings = { additionalQueryParameters: '{ "team": "north" }' };
		expect(await harness.records({ ...many, developerSettings })).toHaveLength(2);
	});
});

describe('Check', () => {
	const check = {
		operation: 'check',
		agentUuid: { __rl: true, mode: 'id', value: '={{ $json.id }}' },
	};
	const items = [{ id: 'agent_b2' }, { id: 'agent_gone' }, { id: 'agent_a1' }];

	test('checks each agent with one read of the list', async () => {
		agents().reply(200, LIST);
		expect(await harness.records(check, { items })).toEqual([
			{ agent_uuid: 'agent_b2', voice: 'calm', active: true },
			{ agent_uuid: 'agent_gone', active: false },
			{ agent_uuid: 'agent_a1', agent_name: 'Sales', active: true },
		]);
	});

	test('an invalid ID fails only its item', async () => {
		agents().reply(200, LIST);
		const overrides = { onError: 'continueErrorOutput' } as const;
		const result = await harness.run(check, {
			items: [{ id: 'sales' }, ...items],
			overrides,
			sinks: ['Good', 'Bad'],
		});
		expect(output(result, 'Good')).toHaveLength(3);
		expect(output(result, 'Bad')).toMatchObject([
			{ json: { error: `'Agent' must be an agent ID (got "sales") [item 0]` } },
		]);
	});

	test('an unreadable list is requested only once', async () => {
		agents().times(4).reply(503, '');
		const overrides = { onError: 'continueRegularOutput' } as const;
		const found = await harness.records(check, { items, overrides });
		expect(found.map(({ error }) => error)).toEqual([
			'The service or a proxy returned HTTP status 503 [item 0]',
			'The service or a proxy returned HTTP status 503 [item 1]',
			'The service or a proxy returned HTTP status 503 [item 2]',
		]);
	});
});

test('the Agent field offers the active agents', async () => {
	agents().reply(200, LIST);
	const { results } = await searchList(
		harness.credentials,
		harness.node('agents'),
		'searchAgents',
		'sal',
	);
	expect(results).toEqual([{ name: 'Sales', value: 'agent_a1' }]);
});

test('the Agent field names the missing fields of the API mapping', async () => {
	agents().reply(200, { success: true, data: [['a-1', { 'shown as': 'Sales' }]] });
	const search = searchList(harness.credentials, harness.node('placeCall'), 'searchAgents', '');
	await expect(search).rejects.toMatchObject({
		message: 'The response has no recognizable list of active agents',
		description: expect.stringMatching(
			/turn on 'Set Up the List of Agents' and fill in 'Path to Agents in Response' and 'Location of Agent ID'/,
		),
	});
});

test("while 'My Provider Sent Settings' is off, settings that the credential still has don't apply", async () => {
	const credential = {
		[PROVIDER_SENT_SETTINGS]: false,
		[PROVIDER_SETTINGS]: 'not a block',
		describeAgents: true,
		agentsPath: 'data',
	};
	agents().reply(200, LIST);
	expect(await harness.records({ operation: 'getMany' }, { credential })).toHaveLength(2);

	agents().reply(200, { success: true, data: { agent_a1: 'Sales' } });
	expect(await harness.errorOf({ operation: 'getMany' }, { credential })).toMatchObject({
		message: 'The response has no recognizable list of active agents',
		description: expect.stringContaining(
			"In the credential, turn on 'My Provider Sent Settings', then turn on 'Set Up the List of Agents' and fill in",
		),
	});
});

describe('agents in lists, as the questionnaire names them', () => {
	const answer = {
		success: true,
		data: [
			['agent_a1', { 'shown as': 'Sales' }],
			['agent_b2', { 'shown as': 'Support' }],
		],
	};
	const credential = {
		describeAgents: true,
		agentsPath: 'data',
		agentsIdPlace: 'field',
		agentsIdPath: '0',
		agentsNamePath: '1.shown as',
	};
	beforeEach(() => agents().reply(200, answer));

	test('Get Many Active returns their names', async () => {
		expect(await harness.records({ operation: 'getMany' }, { credential })).toEqual([
			{ agent_uuid: 'agent_a1', agent_name: 'Sales' },
			{ agent_uuid: 'agent_b2', agent_name: 'Support' },
		]);
	});

	test('Check returns the name', async () => {
		const agentUuid = { __rl: true, mode: 'id', value: 'agent_b2' };
		expect(await harness.records({ operation: 'check', agentUuid }, { credential })).toEqual([
			{ agent_uuid: 'agent_b2', agent_name: 'Support', active: true },
		]);
	});

	test.each(['agents', 'placeCall'])('the Agent field of %s offers their names', async (type) => {
		const credentials = { [CREDENTIAL]: await harness.addCredential(credential) };
		const node = harness.node(type, { credentials });
		const { results } = await searchList(harness.credentials, node, 'searchAgents', 'supp');
		expect(results).toEqual([{ name: 'Support', value: 'agent_b2' }]);
	});
});
