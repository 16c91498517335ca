import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import { N8nDriver, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node, waitNode } from '../n8n/workflow';
import { dialects, startSimulator, type Simulator } from '../simulator';
import {
	allExecutions,
	callIdOf,
	credentialFor,
	executionsOf,
	PACKAGE,
	placeCalls,
	post,
} from '../e2e/calls';
import { removeServer, startServer } from '../e2e/ownServer';

const NAME = 'Call Completed Trigger';
const ids = (items: INodeExecutionData[]) => items.map(callIdOf).sort();

/** Starts its own n8n, because the tests stop, kill, and start it. */
describe('Call Completed Trigger while n8n stops and starts', () => {
	let server: N8nServer;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let workflow: Workflow;
	let url: string;

	beforeAll(async () => {
		server = await startServer();
		simulator = await startSimulator({ dialect: dialects.plain });
		n8n = await N8nDriver.signIn(server.baseUrl);
	});
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	async function listen(...after: Array<ReturnType<typeof node>>) {
		const webhookId = randomUUID();
		const credentials = await credentialFor(n8n, simulator);
		const trigger = node(
			NAME,
			`${PACKAGE}.callCompletedTrigger`,
			2,
			{},
			{ webhookId, credentials },
		);
		workflow = await n8n.createWorkflow(chain('completed', trigger, ...after));
		await n8n.activate(workflow);
		url = `${server.baseUrl}/webhook/${webhookId}/call-completed`;
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
	}

	async function killAndBoot(): Promise<string> {
		await server.kill();
		await server.boot();
		n8n = await N8nDriver.signIn(server.baseUrl);
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
		const crashed = await until('the crashed execution', async () =>
			(await allExecutions(n8n, workflow)).find(({ status }) => status === 'crashed'),
		);
		return crashed.id;
	}

	it('passes no call on twice that is delivered again after a restart', async () => {
		await listen();
		const calls = await placeCalls(simulator, 20, url);
		for (const callId of calls) await simulator.completeCall(callId);
		expect(ids(await executionsOf(n8n, workflow, NAME, 20))).toEqual([...calls].sort());
		await server.stop();
		const booting = server.boot();
		const again = calls.map(async (callId) => {
			await until(
				'n8n to accept the delivery',
				async () => {
					// While it starts, n8n responds with 200 and a page.
					const response = await post(url, { call_id: callId });
					const isJson = response.headers.get('content-type')?.includes('json') === true;
					return response.status === 200 && isJson;
				},
				{ timeout: 120_000, every: 20 },
			);
		});
		await Promise.all([booting, ...again]);
		n8n = await N8nDriver.signIn(server.baseUrl);
		expect(ids(await executionsOf(n8n, workflow, NAME, 40))).toEqual([...calls].sort());
	});

	it('an execution that waits for the record when n8n is killed can be retried', async () => {
		await listen();
		const [callId = ''] = await placeCalls(simulator, 1, url);
		expect((await post(url, { call_id: callId })).status).toBe(200);
		await until('the call to be read', async () =>
			simulator.requests.some(({ path }) => path === `/v1/call/${callId}`),
		);
		const id = await killAndBoot();
		await simulator.endCall(callId);
		const retried = await n8n.retry(id, 'original');
		expect(ids(await n8n.output(retried.id, NAME))).toEqual([callId]);
	});

	it('a call that was passed on when n8n was killed is passed on again by a retry only', async () => {
		await listen(waitNode(20));
		const [callId = ''] = await placeCalls(simulator, 1, url);
		await simulator.completeCall(callId);
		await until('the next node to run', async () =>
			(await allExecutions(n8n, workflow)).some(({ status }) => status === 'running'),
		);
		await new Promise((resolve) => setTimeout(resolve, 3_000));
		const id = await killAndBoot();
		await simulator.deliverWebhook(callId);
		const passed = await executionsOf(n8n, workflow, NAME, 1);
		expect(passed.filter(({ json }) => 'call_id' in json)).toEqual([]);
		const retried = await n8n.retry(id, 'original');
		expect(ids(await n8n.output(retried.id, NAME))).toEqual([callId]);
	});
});
