import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference } from '../n8n/driver';
import type { Turn } from '../n8n/scriptedModel';
import { node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Fault, type Simulator } from '../simulator';
import { credentialFor, PACKAGE } from './calls';
import { sharedN8n } from './shared';
import { askMcp, connectMcp, ToolHost, type AskAgent, type ToolAnswer } from './toolHost';

const TOOL = 'Place Call';
const ROW = '9876543210';
const MODELS = '9123456780';

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
	const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 };
	return node(TOOL, `${PACKAGE}.placeCallTool`, 1, parameters, { credentials, ...tries });
}

/** Lets the model of an agent that works on the row play its script. */
type Ask = (...script: Turn[]) => Promise<ToolAnswer[]>;
const onRow =
	(ask: AskAgent): Ask =>
	async (...script) =>
		await ask(ROW, ...script);

const call = (phone: string): Turn => ({ calls: [{ tool: 'Place_Call', args: { phone } }] });
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
		'after a %s one call is placed, and the model knows that it is unknown',
		async (_name, fault) => {
			simulator.faults.inject({ ...fault, match: { path: '/v1/call' } });
			const [first] = await ask(call(MODELS));
			expect(placed(MODELS)).toBe(1);
			expect(posts()).toBe(1);
			expect(first).toMatchObject({ outcome: 'unknown', id: null, result: null });
			expect(first?.what_happened).toContain(MODELS);
			expect(first?.next_step).toContain('Do not repeat this request');
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
		const rejection = {
			success: false,
			error: 'Agent not found or not associated with this account',
		};
		simulator.faults.inject({ kind: 'status', status: 403, body: rejection, times: 1 });
		const [rejected, bad] = await ask(call(MODELS), call('n/a'));
		expect(rejected).toMatchObject({ outcome: 'rejected', service_said: rejection.error });
		expect(bad?.outcome).toBe('not_sent');
		expect(bad?.what_happened).toContain('"n/a"');
	});

	test('a column of the row is read, not what the model chose', async () => {
		const own = await host.agentWith(
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
