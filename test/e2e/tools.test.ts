import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { INode } from 'n8n-workflow';
import type { Step } from '../n8n/scriptedModel';
import { node } from '../n8n/workflow';
import { useAccount } from './account';
import { CALL, callsDirectly } from './callingAgent';
import { askMcp, callIdOf, connectMcp, ToolHost, type ToolResult } from './toolHost';

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

function placeCallTool(): INode {
	const phoneNumber = "={{ $fromAI('phone', 'whom to call') }}";
	const attempts = { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 };
	return ours('Place Call', 'placeCallTool', { ...CALL, phoneNumber }, attempts);
}

const call = (phone: string): Step => callsDirectly('Place_Call', phone);
const placed = (phone: string) => simulator.callsTo(phone);
const outcomes = (results: ToolResult[]) => results.map(({ outcome }) => outcome);

describe.each([3.1, 2.2])('AI Agent %s', (version) => {
	let ask: (...script: Step[]) => Promise<ToolResult[]>;
	beforeAll(async () => {
		const agent = await host.agentWith(version, placeCallTool());
		ask = async (...script) => await agent(ROW, ...script);
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
});

describe('MCP Server Trigger 2.1', () => {
	let url: URL;
	const clients: Client[] = [];
	beforeAll(async () => {
		url = await host.mcpWith(placeCallTool());
	});
	afterEach(async () => {
		for (const client of clients.splice(0)) await client.close();
	});

	async function connect(): Promise<Client> {
		const client = await connectMcp(url);
		clients.push(client);
		return client;
	}
	const ask = async (client: Client, phone: string) =>
		await askMcp(client, 'Place_Call', { phone });

	test('calls a person once in a session, also at the same time, and again in another session', async () => {
		const client = await connect();
		const results = await Promise.all([1, 2, 3].map(async () => await ask(client, FROM_MODEL)));
		results.push(await ask(client, FROM_MODEL));
		// n8n has no record of a session, so a repeat may have been sent.
		expect(outcomes(results).sort()).toEqual(['done', 'unknown', 'unknown', 'unknown']);
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
		expect(outcomes(await ask(ROW, request, request))).toEqual(['done', 'unknown']);
		expect(placed(FROM_MODEL)).toBe(1);
	});
});
