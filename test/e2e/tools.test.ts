import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference } from '../n8n/driver';
import type { Step } from '../n8n/scriptedModel';
import { node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Fault, type Simulator } from '../simulator';
import { credentialFor, PACKAGE } from './calls';
import { sharedN8n } from './shared';
import { askMcp, connectMcp, ToolHost, type AskAgent, type ToolResult } from './toolHost';

const TOOL = 'Place Call';
const ROW = '9876543210';
const FROM_MODEL = '9123456780';

let n8n: N8nDriver;
let simulator: Simulator;
let host: ToolHost;
let credentials: Record<string, Reference>;

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'tools-token-0001' });
	host = await ToolHost.start(n8n);
	credentials = await credentialFor(n8n, simulator);
});
afterEach(() => simulator.reset());
afterAll(async () => {
	await host.stop();
	await simulator.stop();
});

const CALL: INodeParameters = {
	agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
	countryCode: 'IN',
	phoneNumber: "={{ $fromAI('phone', 'whom to call') }}",
};

function placeCallTool(parameters: INodeParameters = CALL): INode {
	const attempts = { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 };
	return node(TOOL, `${PACKAGE}.placeCallTool`, 1, parameters, { credentials, ...attempts });
}

/** Runs the agent for the row with a scripted model. */
type Ask = (...script: Step[]) => Promise<ToolResult[]>;
const onRow =
	(ask: AskAgent): Ask =>
	async (...script) =>
		await ask(ROW, ...script);

const call = (phone: string): Step => ({ calls: [{ tool: 'Place_Call', args: { phone } }] });
const placed = (phone: string) => simulator.callsTo(phone);
const posts = () => simulator.requests.filter(({ path }) => path === '/v1/call').length;

const faults: Array<[name: string, fault: Fault]> = [
	['502', { kind: 'html', status: 502, afterHandling: true }],
	['500', { kind: 'status', status: 500, afterHandling: true }],
	['reset', { kind: 'resetAfter' }],
];

describe.each([3.1, 2.2])('AI Agent %s', (version) => {
	let ask: Ask;
	beforeAll(async () => {
		ask = onRow(await host.agentWith(version, placeCallTool()));
	});

	test.each(faults)(
		'after a %s, places one call and reports an unknown outcome to the model',
		async (_name, fault) => {
			simulator.faults.inject({ ...fault, match: { path: '/v1/call' } });
			const [first] = await ask(call(FROM_MODEL));
			expect(placed(FROM_MODEL)).toBe(1);
			expect(posts()).toBe(1);
			expect(first).toMatchObject({ outcome: 'unknown', id: null, result: null });
			expect(first?.what_happened).toContain(FROM_MODEL);
			expect(first?.next_step).toContain('Do not repeat this request');
		},
	);

	test('does not repeat the same request, also after an unknown outcome', async () => {
		simulator.faults.inject({ kind: 'resetAfter', match: { path: '/v1/call' }, times: 1 });
		const unknown = await ask(call(FROM_MODEL), call(FROM_MODEL));
		expect(unknown.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown']);
		expect(placed(FROM_MODEL)).toBe(1);
		simulator.reset();
		const results = await ask(call(FROM_MODEL), call(ROW), call(FROM_MODEL));
		expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'already_done']);
		expect(results[2]?.id).toBe(results[0]?.id);
		expect(results[0]?.id).toBe(simulator.placedCalls()[0]?.callId);
		expect([placed(FROM_MODEL), placed(ROW)]).toEqual([1, 1]);
	});

	test('sends two equal requests at the same time once', async () => {
		const args = { phone: FROM_MODEL };
		const twice: Step = {
			calls: [
				{ tool: 'Place_Call', args },
				{ tool: 'Place_Call', args },
			],
		};
		const results = await ask(twice);
		expect(results.map(({ outcome }) => outcome).sort()).toEqual(['already_done', 'done']);
		expect(results[0]?.id).toBe(results[1]?.id);
		expect(placed(FROM_MODEL)).toBe(1);
	});

	test('sends the same request again in another agent run', async () => {
		await ask(call(FROM_MODEL));
		const [second] = await ask(call(FROM_MODEL));
		expect(second?.outcome).toBe('done');
		expect(placed(FROM_MODEL)).toBe(2);
	});

	test('tells the model why nothing was done', async () => {
		const rejection = {
			success: false,
			error: 'Agent not found or not associated with this account',
		};
		simulator.faults.inject({ kind: 'status', status: 403, body: rejection, times: 1 });
		const [rejected, bad] = await ask(call(FROM_MODEL), call('n/a'));
		expect(rejected).toMatchObject({ outcome: 'rejected', service_said: rejection.error });
		expect(bad?.outcome).toBe('not_sent');
		expect(bad?.what_happened).toContain('"n/a"');
	});

	test('reads a column of the row, not the value from the model', async () => {
		const own = await host.agentWith(
			version,
			placeCallTool({
				...CALL,
				phoneNumber: '={{ $json.phone }}',
				personName: "={{ $fromAI('name') }}",
				options: { systemPrompt: version < 3 ? "={{ $fromAI('phone') }}" : '' },
			}),
		);
		// AI Agent 3 merges the arguments into the row, so the model may only pass other names.
		const args = version < 3 ? { name: 'Asha', phone: FROM_MODEL } : { name: 'Asha' };
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
	const ask = async (client: Client, args: Record<string, unknown>, name = 'Place_Call') =>
		await askMcp(client, name, args);

	test.each(faults)(
		'after a %s, places one call and reports an unknown outcome to the client',
		async (_name, fault) => {
			const client = await connect();
			simulator.faults.inject({ ...fault, match: { path: '/v1/call' } });
			const results = await ask(client, { phone: FROM_MODEL });
			expect(placed(FROM_MODEL)).toBe(1);
			expect(posts()).toBe(1);
			expect(results).toMatchObject({ outcome: 'unknown', id: null });
			expect(await ask(client, { phone: FROM_MODEL })).toMatchObject({ outcome: 'unknown' });
			expect(posts()).toBe(1);
		},
	);

	test('one session: sends equal requests once, in sequence and at the same time', async () => {
		const client = await connect();
		const results = await Promise.all(
			[1, 2, 3].map(async () => await ask(client, { phone: FROM_MODEL })),
		);
		results.push(await ask(client, { phone: FROM_MODEL }));
		expect(results.map(({ outcome }) => outcome).sort()).toEqual([
			'already_done',
			'already_done',
			'already_done',
			'done',
		]);
		expect(new Set(results.map(({ id }) => id)).size).toBe(1);
		expect(placed(FROM_MODEL)).toBe(1);
		expect(await ask(client, { phone: ROW })).toMatchObject({ outcome: 'done' });
	});

	test('another session: sends the same request again', async () => {
		expect(await ask(await connect(), { phone: FROM_MODEL })).toMatchObject({ outcome: 'done' });
		expect(await ask(await connect(), { phone: FROM_MODEL })).toMatchObject({ outcome: 'done' });
		expect(placed(FROM_MODEL)).toBe(2);
	});

	test('an expression reads the MCP request, not the arguments', async () => {
		await ask(await connect(), { phone: FROM_MODEL }, 'Call_Row');
		expect(simulator.placedCalls().map(({ phone }) => phone)).toEqual([`+91${ROW}`]);
	});

	test('tells the client why nothing was done', async () => {
		const client = await connect();
		const results = await ask(client, { phone: 'n/a' });
		expect(results.outcome).toBe('not_sent');
		expect(results.what_happened).toContain('"n/a"');
	});
});
