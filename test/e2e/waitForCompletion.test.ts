import { randomUUID } from 'node:crypto';
import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { isN8n1, N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, manualTrigger, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { connect } from './callingAgent';
import { allExecutions, callIdOf, credentialFor, executionsOf, PACKAGE } from './calls';
import { removeServer, startServer } from './ownServer';

const NODE = 'Place Call';
const RACES = 40;
const callIds = (items: INodeExecutionData[]) => items.map(callIdOf);

/** Starts its own n8n, because the tests stop and kill it. */
describe('Place Call waits for completion in real n8n', () => {
	let server: N8nServer;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credentials: Record<string, Reference>;
	let workflow: Workflow;
	let path: string;

	beforeAll(async () => {
		server = await startServer();
		simulator = await startSimulator({ dialect: dialects.plain });
		n8n = await N8nDriver.signIn(server.baseUrl);
		credentials = await credentialFor(n8n, simulator);
	});
	afterEach(() => {
		simulator.reset();
	});
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	/** Publishes Webhook → one item per person → Place Call. */
	async function activate(
		waitForCompletion: 'webhook' | 'reading',
		limit: INodeParameters = {},
	): Promise<void> {
		const start = begin();
		workflow = await n8n.createWorkflow(
			chain('wait', start, split, placeCall(waitForCompletion, limit)),
		);
		await n8n.activate(workflow);
	}

	/** Publishes Webhook → one item per person → a loop that calls one person after another. */
	async function activateLoop(): Promise<void> {
		const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3);
		workflow = await n8n.createWorkflow({
			name: 'wait in a loop',
			nodes: [begin(), split, loop, placeCall('webhook')],
			connections: connect([
				['Webhook', 'Split'],
				['Split', 'Loop'],
				['Loop', NODE, 'main', 1],
				[NODE, 'Loop'],
			]),
		});
		await n8n.activate(workflow);
	}

	function begin(): INode {
		path = randomUUID();
		return webhook(path, { responseMode: 'onReceived' });
	}

	const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });

	const placeCall = (
		waitForCompletion: 'webhook' | 'reading',
		limit: INodeParameters = {},
	): INode =>
		node(
			NODE,
			`${PACKAGE}.placeCall`,
			1,
			{
				agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
				countryCode: 'IN',
				phoneNumber: '={{ $json.phone }}',
				personName: '={{ $json.name }}',
				waitForCompletion,
				...limit,
				developerSettings: { concurrency: 10 },
			},
			{ credentials },
		);

	async function callPeople(count: number): Promise<string> {
		const known = new Set((await allExecutions(n8n, workflow)).map(({ id }) => id));
		const people = Array.from({ length: count }, (_, index) => ({
			phone: String(9_000_000_000 + index),
			name: `Person ${index}`,
		}));
		expect((await n8n.webhook(path, { people })).status).toBe(200);
		return await until('the execution to be listed', async () => {
			return (await allExecutions(n8n, workflow)).find(({ id }) => !known.has(id))?.id;
		});
	}

	async function untilWaiting(id: string): Promise<void> {
		await until(`execution ${id} to wait`, async () => {
			const all = await allExecutions(n8n, workflow);
			return all.some((execution) => execution.id === id && execution.status === 'waiting');
		});
	}

	async function result(id: string, timeout = 60_000): Promise<INodeExecutionData[]> {
		expect(await n8n.finished(id, timeout)).toMatchObject({ status: 'success' });
		return await n8n.output(id, NODE);
	}

	/** Expects one true record per call, in the order of the input, and nobody called twice. */
	function expectAll(items: INodeExecutionData[], count: number): void {
		expect(items).toHaveLength(count);
		expect(simulator.placedCalls()).toHaveLength(count);
		items.forEach(({ json }, index) => {
			expect(json).toMatchObject({
				caller_name: `Person ${index}`,
				call_ended_reason: 'assistant-ended-call',
				timed_out: false,
			});
		});
	}

	async function completeInBursts(ids: string[], size: number): Promise<void> {
		for (let start = 0; start < ids.length; start += size) {
			const burst = ids.slice(start, start + size);
			await Promise.all(burst.map(async (id) => await simulator.completeCall(id)));
		}
	}

	const readsOf = (id: string) =>
		simulator.requests.filter(({ method, path }) => `${method} ${path}` === `GET /v1/call/${id}`);
	const placedIds = () => simulator.placedCalls().map(({ callId }) => callId);

	it.each([1, 200])('waits for %i calls in one execution, also across a restart', async (count) => {
		await activate('webhook');
		const id = await callPeople(count);
		await untilWaiting(id);
		const ids = placedIds();
		await completeInBursts(ids.slice(0, Math.floor(count / 2)), 25);
		await server.stop();
		await server.boot();
		n8n = await N8nDriver.signIn(server.baseUrl);
		await completeInBursts(ids.slice(Math.floor(count / 2)), 25);
		expectAll(await result(id), count);
	});

	it('continues to wait after n8n was killed', async () => {
		await activate('webhook');
		const id = await callPeople(20);
		await untilWaiting(id);
		await server.kill();
		// n8n misses these completions. The later ones make it read all calls.
		await completeInBursts(placedIds().slice(0, 10), 10);
		await server.boot();
		n8n = await N8nDriver.signIn(server.baseUrl);
		await completeInBursts(placedIds().slice(10), 10);
		expectAll(await result(id), 20);
	});

	it(`misses no completion before or while the execution starts to wait, ${RACES} times`, async () => {
		await activate('webhook', { waitLimit: 10, waitLimitUnit: 'minutes' });
		const delays = [
			'beforeResponse',
			0,
			10,
			20,
			40,
			60,
			80,
			120,
			160,
			200,
			300,
			400,
			500,
			600,
			// On a busy n8n, an execution starts to wait later.
			3_000,
			15_000,
		] as const;
		let run = 0;
		const runner = async (): Promise<void> => {
			while (run < RACES) {
				const people = [{ phone: String(9_000_000_000 + run), name: `Person ${run}` }];
				simulator.setAutoComplete({ afterMs: delays[run++ % delays.length] ?? 0 });
				expect((await n8n.webhook(path, { people })).status).toBe(200);
			}
		};
		await Promise.all(Array.from({ length: 10 }, runner));
		const items = await executionsOf(n8n, workflow, NODE, RACES);
		expect(items).toHaveLength(RACES);
		expect(items.filter(({ json }) => json.timed_out !== false)).toEqual([]);
		expect(new Set(callIds(items))).toEqual(new Set(placedIds()));
		expect(simulator.placedCalls()).toHaveLength(RACES);
		const deliveries = simulator.placedCalls().flatMap((call) => call.deliveries);
		const statuses = deliveries.map(({ status }) => status);
		expect(statuses).toContain(200);
		// 409 means that the execution was still running. n8n 1 has no such status.
		if (!isN8n1) expect(statuses).toContain(409);
	});

	it('two reports of a call, of which one is read slowly, call the next person once', async () => {
		await activateLoop();
		const id = await callPeople(2);
		await untilWaiting(id);
		const [first = ''] = placedIds();
		await simulator.endCall(first);
		const release = simulator.holdResponses(/^\/v1\/call\//);
		const slow = simulator.deliverWebhook(first);
		await until('the call to be read', async () => readsOf(first).length > 0);
		simulator.holdResponses(/^$/);
		await simulator.deliverWebhook(first);
		await until('the next call', async () => placedIds().length === 2);
		await untilWaiting(id);
		release();
		await slow;
		simulator.setAutoComplete({ afterMs: 0 });
		for (const next of placedIds().slice(1)) await simulator.completeCall(next);
		await result(id);
		expect(placedIds()).toHaveLength(2);
	});

	it('waits in a manual execution', async () => {
		const place = placeCall('webhook', { phoneNumber: '9000000000', personName: 'Person 0' });
		workflow = await n8n.createWorkflow(chain('wait by hand', manualTrigger(), place));
		simulator.setAutoComplete({ afterMs: 1_000 });
		const execution = await n8n.runManually(workflow, 'Start');
		expectAll(await result(execution.id), 1);
	});

	it('ends at the time limit with the known results', async () => {
		await activate('webhook', { waitLimit: 3, waitLimitUnit: 'seconds' });
		const id = await callPeople(3);
		await untilWaiting(id);
		const [first = '', ...pending] = placedIds();
		await simulator.completeCall(first);
		const items = await result(id);
		expect(callIds(items).sort()).toEqual([first, ...pending].sort());
		for (const { json } of items) expect(json.timed_out).toBe(json.call_id !== first);
	});

	it('waits by reading the call', async () => {
		await activate('reading');
		simulator.setAutoComplete({ afterMs: 1_000 });
		const id = await callPeople(20);
		expectAll(await result(id), 20);
		expect(simulator.placedCalls().every(({ webhookUrl }) => webhookUrl === null)).toBe(true);
	});
});
