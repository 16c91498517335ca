import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { IConnections, INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { ScriptedModel, type Turn } from '../n8n/scriptedModel';
import { until } from '../n8n/until';
import { node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Fault, type Simulator } from '../simulator';
import { credentialFor, PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const TOOL = 'Place Call';
const ROW = '9876543210';
const MODELS = '9123456780';
const answer = z.object({
	outcome: z.string(),
	what_happened: z.string(),
	next_step: z.string(),
	id: z.unknown(),
	service_said: z.string().nullable(),
	result: z.unknown(),
});
type ToolAnswer = z.infer<typeof answer>;

let n8n: N8nDriver;
let simulator: Simulator;
let model: ScriptedModel;
let credentials: Record<string, Reference>;
let modelCredentials: Record<string, Reference>;
const made: Workflow[] = [];

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'tools-token-0001' });
	model = await ScriptedModel.start();
	credentials = await credentialFor(n8n, simulator);
	const key = { apiKey: 'none', url: model.baseUrl };
	modelCredentials = { openAiApi: await n8n.createCredential('openAiApi', key) };
});
afterEach(() => simulator.reset());
afterAll(async () => {
	for (const workflow of made) await removeWorkflow(n8n, workflow);
	await model.stop();
	await simulator.stop();
});

const CALL: INodeParameters = {
	agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
	countryCode: 'IN',
	phoneNumber: "={{ $fromAI('phone', 'whom to call') }}",
};

function placeCallTool(parameters: INodeParameters = CALL): INode {
	const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 };
	return node(TOOL, `${PACKAGE}.placeCallTool`, 1, parameters, { credentials, ...tries });
}

async function activate(name: string, nodes: INode[], connections: IConnections): Promise<void> {
	const workflow = await n8n.createWorkflow({ name, nodes, connections });
	made.push(workflow);
	await n8n.activate(workflow);
}

const to = (name: string, type: 'main' | 'ai_tool' | 'ai_languageModel') => [
	[{ node: name, type, index: 0 }],
];

/** Webhook → AI Agent with the tools, and the scripted model. */
async function agentWith(version: number, ...tools: INode[]) {
	const path = randomUUID();
	const agent = node('Agent', `${LANGCHAIN}.agent`, version, {
		promptType: 'define',
		text: '={{ $json.body.text }}',
	});
	const edit = node('Row', 'n8n-nodes-base.set', 3.4, {
		mode: 'raw',
		jsonOutput: '={{ { phone: $json.body.phone } }}',
		includeOtherFields: true,
	});
	const chat = node(
		'Model',
		`${LANGCHAIN}.lmChatOpenAi`,
		1.2,
		{ model: { __rl: true, mode: 'id', value: 'scripted' } },
		{ credentials: modelCredentials },
	);
	await activate(`agent ${version} ${path}`, [webhook(path), edit, agent, chat, ...tools], {
		Webhook: { main: to('Row', 'main') },
		Row: { main: to('Agent', 'main') },
		Model: { ai_languageModel: to('Agent', 'ai_languageModel') },
		...Object.fromEntries(tools.map(({ name }) => [name, { ai_tool: to('Agent', 'ai_tool') }])),
	});
	return async (...script: Turn[]): Promise<ToolAnswer[]> => {
		model.follow(...script, { says: 'done' });
		const response = await n8n.webhook(path, { text: 'Go', phone: ROW });
		expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
		return model.told().map(readAnswer);
	};
}

/** The model gets a list with one item, as text. */
function readAnswer(told: string): ToolAnswer {
	const [item, ...others] = z.array(answer.strict()).parse(JSON.parse(told));
	expect(others).toEqual([]);
	if (item === undefined) throw new Error(`the model was told nothing: ${told}`);
	return item;
}

const call = (phone: string): Turn => ({ calls: [{ tool: 'Place_Call', args: { phone } }] });
const placed = (phone: string) => simulator.callsTo(phone);
const posts = () => simulator.requests.filter(({ path }) => path === '/v1/call').length;

const faults: Array<[name: string, fault: Fault]> = [
	['502', { kind: 'html', status: 502, afterHandling: true }],
	['500', { kind: 'status', status: 500, afterHandling: true }],
	['reset', { kind: 'resetAfter' }],
];

describe.each([3.1, 2.2])('AI Agent %s', (version) => {
	let ask: (...script: Turn[]) => Promise<ToolAnswer[]>;
	beforeAll(async () => {
		ask = await agentWith(version, placeCallTool());
	});

	test.each(faults)(
		'after a %s one call is placed, and the model knows that it is unknown',
		async (_name, fault) => {
			simulator.faults.inject({ ...fault, match: { path: '/v1/call' } });
			const [first] = await ask(call(MODELS));
			expect(placed(MODELS)).toBe(1);
			expect(posts()).toBe(1);
			expect(first).toMatchObject({ outcome: 'unknown', id: null, result: null });
			expect(first?.what_happened).toContain(MODELS);
			expect(first?.next_step).toContain('Do not ask for the same again');
		},
	);

	test('the same wish again, also after an unknown outcome, is answered and not obeyed', async () => {
		simulator.faults.inject({ kind: 'resetAfter', match: { path: '/v1/call' }, times: 1 });
		const unknown = await ask(call(MODELS), call(MODELS));
		expect(unknown.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown']);
		expect(placed(MODELS)).toBe(1);
		simulator.reset();
		const told = await ask(call(MODELS), call(ROW), call(MODELS));
		expect(told.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'already_done']);
		expect(told[2]?.id).toBe(told[0]?.id);
		expect(told[0]?.id).toBe(simulator.placedCalls()[0]?.callId);
		expect([placed(MODELS), placed(ROW)]).toEqual([1, 1]);
	});

	test('the same wish at the same moment is done once', async () => {
		const args = { phone: MODELS };
		const twice: Turn = {
			calls: [
				{ tool: 'Place_Call', args },
				{ tool: 'Place_Call', args },
			],
		};
		const told = await ask(twice);
		expect(told.map(({ outcome }) => outcome).sort()).toEqual(['already_done', 'done']);
		expect(told[0]?.id).toBe(told[1]?.id);
		expect(placed(MODELS)).toBe(1);
	});

	test('in another run of the agent it is a new wish', async () => {
		await ask(call(MODELS));
		const [second] = await ask(call(MODELS));
		expect(second?.outcome).toBe('done');
		expect(placed(MODELS)).toBe(2);
	});

	test('the model is told why nothing was done', async () => {
		const refusal = {
			success: false,
			error: 'Agent not found or not associated with this account',
		};
		simulator.faults.inject({ kind: 'status', status: 403, body: refusal, times: 1 });
		const [refused, bad] = await ask(call(MODELS), call('n/a'));
		expect(refused).toMatchObject({ outcome: 'refused', service_said: refusal.error });
		expect(bad?.outcome).toBe('not_sent');
		expect(bad?.what_happened).toContain('"n/a"');
	});

	test('a column of the row is read, not what the model chose', async () => {
		const own = await agentWith(
			version,
			placeCallTool({
				...CALL,
				phoneNumber: '={{ $json.phone }}',
				personName: "={{ $fromAI('name') }}",
				options: { systemPrompt: version < 3 ? "={{ $fromAI('phone') }}" : '' },
			}),
		);
		// AI Agent 3 lays what the model passes over the row; a name of its own is left to the model.
		const args = version < 3 ? { name: 'Asha', phone: MODELS } : { name: 'Asha' };
		await own({ calls: [{ tool: 'Place_Call', args }] });
		expect(simulator.placedCalls().map(({ phone }) => phone)).toEqual([`+91${ROW}`]);
	});
});

describe('MCP Server Trigger 2.1', () => {
	let url: URL;
	const clients: Client[] = [];
	beforeAll(async () => {
		const path = randomUUID();
		url = new URL(`${n8n.baseUrl}/mcp/${path}`);
		const trigger = node('MCP', `${LANGCHAIN}.mcpTrigger`, 2.1, { path }, { webhookId: path });
		const row = placeCallTool({
			...CALL,
			phoneNumber: '={{ $json.headers["x-row"] }}',
			personName: "={{ $fromAI('phone') }}",
		});
		await activate(`mcp ${path}`, [trigger, placeCallTool(), { ...row, name: 'Call Row' }], {
			[TOOL]: { ai_tool: to('MCP', 'ai_tool') },
			'Call Row': { ai_tool: to('MCP', 'ai_tool') },
		});
	});
	afterEach(async () => {
		for (const client of clients.splice(0)) await client.close();
	});

	async function connect(): Promise<Client> {
		return await until('the MCP server', async () => {
			const client = new Client({ name: 'test', version: '1.0.0' });
			const requestInit = { headers: { 'x-row': ROW } };
			await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
			clients.push(client);
			return client;
		});
	}

	async function ask(
		client: Client,
		args: Record<string, unknown>,
		name = 'Place_Call',
	): Promise<ToolAnswer> {
		const result = await client.callTool({ name, arguments: args });
		const { content } = z
			.object({ content: z.array(z.object({ text: z.string() })).length(1) })
			.parse(result);
		return readAnswer(content[0]?.text ?? '');
	}

	test.each(faults)(
		'after a %s one call is placed, and the client knows that it is unknown',
		async (_name, fault) => {
			const client = await connect();
			simulator.faults.inject({ ...fault, match: { path: '/v1/call' } });
			const told = await ask(client, { phone: MODELS });
			expect(placed(MODELS)).toBe(1);
			expect(posts()).toBe(1);
			expect(told).toMatchObject({ outcome: 'unknown', id: null });
			expect(await ask(client, { phone: MODELS })).toMatchObject({ outcome: 'unknown' });
			expect(posts()).toBe(1);
		},
	);

	test('one session: the same wish is done once, in sequence and at the same moment', async () => {
		const client = await connect();
		const told = await Promise.all([1, 2, 3].map(async () => await ask(client, { phone: MODELS })));
		told.push(await ask(client, { phone: MODELS }));
		expect(told.map(({ outcome }) => outcome).sort()).toEqual([
			'already_done',
			'already_done',
			'already_done',
			'done',
		]);
		expect(new Set(told.map(({ id }) => id)).size).toBe(1);
		expect(placed(MODELS)).toBe(1);
		expect(await ask(client, { phone: ROW })).toMatchObject({ outcome: 'done' });
	});

	test('another session: a new wish', async () => {
		expect(await ask(await connect(), { phone: MODELS })).toMatchObject({ outcome: 'done' });
		expect(await ask(await connect(), { phone: MODELS })).toMatchObject({ outcome: 'done' });
		expect(placed(MODELS)).toBe(2);
	});

	test('an expression reads the request, not what the model passes', async () => {
		await ask(await connect(), { phone: MODELS }, 'Call_Row');
		expect(simulator.placedCalls().map(({ phone }) => phone)).toEqual([`+91${ROW}`]);
	});

	test('the client is told why nothing was done', async () => {
		const client = await connect();
		const told = await ask(client, { phone: 'n/a' });
		expect(told.outcome).toBe('not_sent');
		expect(told.what_happened).toContain('"n/a"');
	});
});
