import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { INode, INodeParameters } from 'n8n-workflow';
import type { Step } from '../n8n/scriptedModel';
import { node } from '../n8n/workflow';
import { useAccount } from './account';
import { CALL, callsDirectly } from './callingAgent';
import { askMcp, callIdOf, connectMcp, ToolHost, type ToolResult } from './toolHost';

const TOOL = 'Place Call';
const ROW = '9876543210';
const FROM_MODEL = '9123456780';

const { n8n, simulator, ours } = useAccount();
let host: ToolHost;

beforeAll(async () => {
	host = await ToolHost.start(n8n);
});
afterEach(() => simulator.reset());
afterAll(async () => {
	await host.stop();
});

const FROM_AI: INodeParameters = {
	...CALL,
	phoneNumber: "={{ $fromAI('phone', 'whom to call') }}",
};

function placeCallTool(parameters: INodeParameters = FROM_AI): INode {
	const attempts = { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 };
	return ours(TOOL, 'placeCallTool', parameters, attempts);
}

const call = (phone: string): Step => callsDirectly('Place_Call', phone);
const placed = (phone: string) => simulator.callsTo(phone);
const posts = () => simulator.requests.filter(({ path }) => path === '/v1/call').length;
const outcomes = (results: ToolResult[]) => results.map(({ outcome }) => outcome);
const loseResponses = () =>
	simulator.faults.inject({ kind: 'resetAfter', match: { path: '/v1/call' } });

describe.each([3.1, 2.2])('AI Agent %s', (version) => {
	let ask: (...script: Step[]) => Promise<ToolResult[]>;
	beforeAll(async () => {
		const agent = await host.agentWith(version, placeCallTool());
		ask = async (...script) => await agent(ROW, ...script);
	});

	test('does not repeat a request whose response was lost, and tells the model what to do', async () => {
		loseResponses();
		const results = await ask(call(FROM_MODEL), call(FROM_MODEL));
		expect(outcomes(results)).toEqual(['unknown', 'unknown']);
		expect(results[0]).toMatchObject({ result: null });
		expect(results[0]?.what_happened).toContain(FROM_MODEL);
		expect(results[0]?.next_step).toContain('Do not repeat this request');
		expect([placed(FROM_MODEL), posts()]).toEqual([1, 1]);
	});

	test('sends equal requests of an agent run once, also at the same time, and again in another run', async () => {
		const request = { tool: 'Place_Call', args: { phone: FROM_MODEL } };
		const results = await ask({ calls: [request, request] }, call(ROW), call(FROM_MODEL));
		expect(outcomes(results).sort()).toEqual(['already_done', 'already_done', 'done', 'done']);
		const [first] = simulator.placedCalls();
		expect(results.filter((result) => callIdOf(result) === first?.callId)).toHaveLength(3);
		expect([placed(FROM_MODEL), placed(ROW)]).toEqual([1, 1]);
		expect(outcomes(await ask(call(FROM_MODEL)))).toEqual(['done']);
		expect(placed(FROM_MODEL)).toBe(2);
	});

	test('reads a column of the row, not the value from the model', async () => {
		const own = await host.agentWith(
			version,
			placeCallTool({
				...CALL,
				phoneNumber: '={{ $json.phone }}',
				personName: "={{ $fromAI('name') }}",
				options: { systemPrompt: "={{ $fromAI('phone') }}" },
			}),
		);
		const args = { name: 'Asha', phone: FROM_MODEL };
		await own(ROW, { calls: [{ tool: 'Place_Call', args }] });
		expect(simulator.placedCalls().map(({ phone }) => phone)).toEqual([`+91${ROW}`]);
	});
});

describe('MCP Server Trigger 2.1', () => {
	let url: URL;
	const clients: Client[] = [];
	beforeAll(async () => {
		const row = placeCallTool({
			...CALL,
			phoneNumber: '={{ $json.headers["x-row"] }}',
			personName: "={{ $fromAI('phone') }}",
		});
		url = await host.mcpWith(placeCallTool(), { ...row, name: 'Call Row' });
	});
	afterEach(async () => {
		for (const client of clients.splice(0)) await client.close();
	});

	async function connect(): Promise<Client> {
		const client = await connectMcp(url, { 'x-row': ROW });
		clients.push(client);
		return client;
	}
	const ask = async (client: Client, phone: string, name = 'Place_Call') =>
		await askMcp(client, name, { phone });

	test('does not repeat a request whose response was lost', async () => {
		const client = await connect();
		loseResponses();
		for (let time = 0; time < 2; time++) {
			expect(await ask(client, FROM_MODEL)).toMatchObject({ outcome: 'unknown', result: null });
		}
		expect([placed(FROM_MODEL), posts()]).toEqual([1, 1]);
	});

	test('sends equal requests of a session once, also at the same time, and again in another session', async () => {
		const client = await connect();
		const results = await Promise.all([1, 2, 3].map(async () => await ask(client, FROM_MODEL)));
		results.push(await ask(client, FROM_MODEL));
		expect(outcomes(results).sort()).toEqual([
			'already_done',
			'already_done',
			'already_done',
			'done',
		]);
		expect(new Set(results.map(callIdOf)).size).toBe(1);
		expect(placed(FROM_MODEL)).toBe(1);
		expect(await ask(client, ROW)).toMatchObject({ outcome: 'done' });
		expect(await ask(await connect(), FROM_MODEL)).toMatchObject({ outcome: 'done' });
		expect(placed(FROM_MODEL)).toBe(2);
	});

	test("an agent that repeats a request over n8n's MCP Client 1.4 calls once", async () => {
		const client = node('Client', '@n8n/n8n-nodes-langchain.mcpClientTool', 1.4, {
			endpointUrl: url.toString(),
			serverTransport: 'httpStreamable',
			authentication: 'none',
			include: 'all',
		});
		await connect();
		const ask = await host.agentWith(3.1, client);
		const request = callsDirectly('Client_Place_Call', FROM_MODEL);
		expect(outcomes(await ask(ROW, request, request))).toEqual(['done', 'already_done']);
		expect(placed(FROM_MODEL)).toBe(1);
	});

	test('an expression reads the MCP request, not the arguments', async () => {
		await ask(await connect(), FROM_MODEL, 'Call_Row');
		expect(simulator.placedCalls().map(({ phone }) => phone)).toEqual([`+91${ROW}`]);
	});
});
