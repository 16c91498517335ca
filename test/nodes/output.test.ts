/** The Output options of every node that reads records: Simplified, Raw, and Selected Fields. */
import type { ICredentialDataDecryptedObject, INodeParameters } from 'n8n-workflow';
import type { JsonObject } from '../../nodes/shared/json';
import { engineHarness, engineTool, runNode, service, records } from '../engine';
import { AGENT, DETAILS, PATH as DND } from './Dnd/dndHarness';

const harness = engineHarness();

const CALL = { call_id: 'c-1', status: 'picked', phone_number: '9876543210', tag: { name: 'Hot' } };
const TURNS = [{ role: 'assistant', content: 'Hello' }];
const CAMPAIGN = {
	campaign: { id: 42, name: 'Week 40', status: 'Active' },
	calls: { total: 4, by_status: { picked: 1 } },
	uploads: [],
};
const ENTRY = {
	id: 7,
	agent_uuid: AGENT.value,
	phone: '+919812345678',
	reason: 'asked',
	created_at: 't',
};
const AGENT_RECORD = { agent_uuid: 'agent_a1', agent_name: 'A', languages: ['hi', 'en'] };

type Case = {
	type: string;
	parameters: INodeParameters;
	path: string;
	data: unknown;
	details?: ICredentialDataDecryptedObject;
	fields: string;
	selected: JsonObject;
	simplified: JsonObject;
	raw: JsonObject;
};

const PHONE_KEY = { phone_key: null };
const CASES: Array<[name: string, one: Case]> = [
	[
		'Get Call › Get',
		{
			type: 'getCall',
			parameters: { operation: 'get', callId: 'c-1' },
			path: '/v1/call/c-1',
			data: CALL,
			fields: 'status, tag.name, missing, constructor, tag.constructor.name, __proto__.toString',
			selected: {
				status: 'picked',
				'tag.name': 'Hot',
				missing: null,
				constructor: null,
				'tag.constructor.name': null,
				'__proto__.toString': null,
			},
			simplified: { call_id: 'c-1', status: 'picked', phone_number: '9876543210', ...PHONE_KEY },
			raw: CALL,
		},
	],
	[
		'Get Call › Get Many',
		{
			type: 'getCall',
			parameters: { operation: 'getMany' },
			path: '/v1/calls',
			data: [CALL],
			fields: 'call_id,phone_key',
			selected: { call_id: 'c-1', ...PHONE_KEY },
			simplified: { call_id: 'c-1', status: 'picked', phone_number: '9876543210', ...PHONE_KEY },
			raw: CALL,
		},
	],
	[
		'Get Call › Get Transcript',
		{
			type: 'getCall',
			parameters: { operation: 'getTranscript', callId: 'c-1' },
			path: '/v1/call/c-1/transcript',
			data: { transcript: TURNS },
			fields: 'transcript[0].content',
			selected: { 'transcript[0].content': 'Hello' },
			simplified: { call_id: 'c-1', transcript_text: 'assistant: Hello' },
			raw: { transcript: TURNS, transcript_text: 'assistant: Hello' },
		},
	],
	[
		'Campaign Status',
		{
			type: 'campaignStatus',
			parameters: { campaignId: '42' },
			path: '/v1/campaigns/42/status',
			data: CAMPAIGN,
			fields: 'attempts_total, campaign.status',
			selected: { attempts_total: 4, 'campaign.status': 'Active' },
			simplified: { campaign_id: 42, attempts_total: 4, attempts_picked: 1 },
			raw: CAMPAIGN,
		},
	],
	[
		'DND List › Get Many',
		{
			type: 'dnd',
			parameters: {
				operation: 'getMany',
				agentUuid: AGENT,
				returnAll: false,
				limit: 1,
			},
			path: DND,
			data: [ENTRY],
			details: DETAILS,
			fields: 'phone',
			selected: { phone: ENTRY.phone },
			simplified: { phone: ENTRY.phone, reason: 'asked' },
			raw: ENTRY,
		},
	],
	[
		'Agents › Get Many Active',
		{
			type: 'agents',
			parameters: { operation: 'getMany' },
			path: '/v1/active_agents',
			data: [AGENT_RECORD],
			fields: 'agent_name',
			selected: { agent_name: 'A' },
			simplified: AGENT_RECORD,
			raw: { data: [AGENT_RECORD] },
		},
	],
];

describe.each(CASES)('%s', (_name, one) => {
	async function node(parameters: INodeParameters) {
		const over = { parameters: { ...one.parameters, ...parameters } };
		return await harness.nodeWith(one.details ?? {}, one.type, over);
	}
	function mockResponse() {
		service().get(one.path).query(true).reply(200, { success: true, data: one.data });
	}
	const outputOf = async (parameters: INodeParameters) => {
		mockResponse();
		const run = await runNode(await node(parameters), [{ json: {} }]);
		return records(run);
	};

	test('returns the raw or the simplified record', async () => {
		expect(await outputOf({ simplify: false })).toEqual([expect.objectContaining(one.raw)]);
		expect(await outputOf({ simplify: true })).toMatchObject([one.simplified]);
	});

	test('returns only the selected fields, also to a model', async () => {
		const parameters = { simplify: 'selected', selectedFields: one.fields };
		expect(await outputOf(parameters)).toEqual([one.selected]);
		mockResponse();
		const tool = engineTool(await node(parameters));
		const { result } = await tool();
		expect([result].flat()).toEqual([one.selected]);
	});

	test('stops before it reads if Selected Fields is empty', async () => {
		const run = await runNode(await node({ simplify: 'selected', selectedFields: ' , ' }), [
			{ json: {} },
		]);
		expect(run.data.resultData.error?.message).toBe("'Fields' is empty, so nothing was read");
	});
});
