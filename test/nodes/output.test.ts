/** The Output options of every node that reads records: Simplified, Raw, and Selected Fields. */
import omit from 'lodash/omit';
import type { INodeParameters } from 'n8n-workflow';
import type { JsonObject } from '../../nodes/core/values/json';
import { credentialFor } from '../contract/credentialFor';
import {
	engineHarness,
	engineTool,
	HOST,
	loader,
	records,
	runNode,
	service,
	TOKEN,
} from '../engine';
import { useOf } from '../operations/operations';
import { keysOf, nameOf, type SchemaKey } from '../schema/schemas';
import { dialects, fixtures } from '../simulator';

const { agents, calls, campaigns } = fixtures;
const harness = engineHarness();
beforeAll(() => loader.loadEveryNode());

const CALL = {
	...{ call_id: calls.finished, status: 'picked', phone_number: '9876543210' },
	tag: { name: 'Hot' },
};
const TURNS = [{ role: 'assistant', content: 'Hello' }];
const CAMPAIGN = {
	campaign: { id: campaigns.active, name: 'Week 40', status: 'Active' },
	calls: { total: 4, by_status: { picked: 1 } },
	uploads: [],
};
const ENTRY = {
	id: 7,
	agent_uuid: agents.full,
	phone: '+919812345678',
	reason: 'asked',
	created_at: 't',
};
const AGENT_RECORD = { agent_uuid: 'agent_a1', agent_name: 'A', languages: ['hi', 'en'] };

/** What the service returns, and the output of an item with each choice. */
type Case = {
	data: unknown;
	fields: string;
	selected: JsonObject;
	simplified: JsonObject;
	raw: JsonObject;
};

const PHONE_KEY = { phone_key: null };
const ROW = { ...omit(CALL, 'status'), outcome: 'Answered', tag: 'Hot', ...PHONE_KEY };
const CASES: { [name: string]: Case } = {
	'getCall › get': {
		data: CALL,
		fields: 'status, tag, tag.name, missing, constructor, tag.constructor.name, __proto__.toString',
		selected: {
			status: 'picked',
			tag: 'Hot',
			'tag.name': 'Hot',
			missing: null,
			constructor: null,
			'tag.constructor.name': null,
			'__proto__.toString': null,
		},
		simplified: ROW,
		raw: CALL,
	},
	'getCall › getMany': {
		data: [CALL],
		fields: 'call_id,phone_key',
		selected: { call_id: CALL.call_id, ...PHONE_KEY },
		simplified: ROW,
		raw: CALL,
	},
	'getCall › getTranscript': {
		data: { transcript: TURNS },
		fields: 'transcript[0].content',
		selected: { 'transcript[0].content': 'Hello' },
		simplified: { call_id: CALL.call_id, transcript_text: 'assistant: Hello' },
		raw: { transcript: TURNS, transcript_text: 'assistant: Hello' },
	},
	campaignStatus: {
		data: CAMPAIGN,
		fields: 'attempts_total, campaign.status',
		selected: { attempts_total: 4, 'campaign.status': 'Active' },
		simplified: { campaign_id: CAMPAIGN.campaign.id, attempts_total: 4, attempts_picked: 1 },
		raw: CAMPAIGN,
	},
	'dnd › getMany': {
		data: [ENTRY],
		fields: 'phone',
		selected: { phone: ENTRY.phone },
		simplified: { phone: ENTRY.phone, reason: 'asked' },
		raw: ENTRY,
	},
	'agents › getMany': {
		data: [AGENT_RECORD],
		fields: 'agent_name',
		selected: { agent_name: 'A' },
		simplified: AGENT_RECORD,
		raw: { data: [AGENT_RECORD] },
	},
};

/** Whether the form of this operation has *Output*. The triggers that have it have tests of their own. */
function offersOutput({ node, operation }: SchemaKey): boolean {
	const { properties = [], group = [] } =
		loader.types.nodes.find(({ name }) => name === node) ?? {};
	if (group.includes('trigger')) return false;
	return properties.some(
		({ name, displayOptions: { show = {} } = {} }) =>
			name === 'output' &&
			(operation === undefined || show.operation?.includes(operation) === true),
	);
}

test('each operation with these options has a case', () => {
	const offered = keysOf(loader.types.nodes).filter(offersOutput);
	expect(offered.map(nameOf).sort()).toEqual(Object.keys(CASES).sort());
});

describe.each(Object.entries(CASES))('%s', (name, one) => {
	async function node(own: INodeParameters) {
		const { node: type, parameters } = useOf(name);
		const credential = credentialFor({ baseUrl: HOST, token: TOKEN, dialect: dialects.plain });
		// A list needs only one page then.
		const over = { parameters: { ...parameters, limit: 1, ...own } };
		return await harness.nodeWith(credential, type, over);
	}
	function mockResponse() {
		service().get(/^/).query(true).reply(200, { success: true, data: one.data });
	}
	const outputOf = async (parameters: INodeParameters) => {
		mockResponse();
		return records(await runNode(await node(parameters), [{ json: {} }]));
	};

	test('returns the raw or the simplified record, or only the selected fields, also to a model', async () => {
		expect(await outputOf({ output: 'raw' })).toEqual([expect.objectContaining(one.raw)]);
		expect(await outputOf({ output: 'simplified' })).toMatchObject([one.simplified]);
		const parameters = { output: 'selected', selectedFields: one.fields };
		expect(await outputOf(parameters)).toEqual([one.selected]);
		mockResponse();
		const { result } = await engineTool(await node(parameters))();
		expect([result].flat()).toEqual([one.selected]);
	});

	test('stops before it reads if Selected Fields is empty', async () => {
		const empty = await node({ output: 'selected', selectedFields: ' , ' });
		const { data } = await runNode(empty, [{ json: {} }]);
		expect(data.resultData.error?.message).toBe("'Fields' is empty, so nothing was read");
	});
});
