import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import { N8nDriver, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node } from '../n8n/workflow';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { callIdOf, credentialFor, executionsOf, PACKAGE, placeCalls, post } from './calls';
import { removeServer, startServer } from './ownServer';

const NAME = 'Call Completed Trigger';
const ids = (items: INodeExecutionData[]) => items.map(callIdOf).sort();

/** Starts its own n8n, because the tests stop and start it. */
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
		const webhookId = randomUUID();
		const credentials = await credentialFor(n8n, simulator);
		const rest = { webhookId, credentials };
		const trigger = node(NAME, `${PACKAGE}.callCompletedTrigger`, 1, {}, rest);
		workflow = await n8n.createWorkflow(chain('completed', trigger));
		await n8n.activate(workflow);
		url = `${server.baseUrl}/webhook/${webhookId}/call-completed`;
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
	});
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	it('starts nothing for calls from before a restart, even if they are delivered before the trigger is active', async () => {
		const calls = await placeCalls(simulator, 20, url);
		for (const callId of calls) await simulator.completeCall(callId);
		expect(ids(await executionsOf(n8n, workflow, NAME, 20))).toEqual([...calls].sort());
		await server.stop();
		const booting = server.boot();
		const again = calls.map(async (callId) => {
			await until(
				'n8n to accept the delivery',
				async () => [200, 503].includes((await post(url, { call_id: callId })).status),
				{ timeout: 120_000, every: 20 },
			);
		});
		await Promise.all([booting, ...again]);
		n8n = await N8nDriver.signIn(server.baseUrl);
		const [fresh = ''] = await placeCalls(simulator, 1, url);
		await until('the trigger to be active', async () => {
			const [delivery] = await simulator.completeCall(fresh);
			return delivery?.status === 200;
		});
		expect(ids(await executionsOf(n8n, workflow, NAME, 21))).toEqual([...calls, fresh].sort());
	});

	it('reports a call that is being verified when the workflow is unpublished', async () => {
		const [callId = ''] = await placeCalls(simulator, 1, url);
		void post(url, { call_id: callId }).catch(() => {});
		await until('the call to be read back', async () =>
			simulator.requests.some(({ path }) => path === `/v1/call/${callId}`),
		);
		await n8n.deactivate(workflow);
		const failed = await until(
			'the failed execution',
			async () => (await n8n.executions(workflow)).find(({ status }) => status === 'error'),
			{ timeout: 60_000 },
		);
		const { error } = await n8n.runData(failed.id);
		expect(error?.message).toContain('still being verified when the trigger was stopped');
		expect(JSON.stringify(error)).toContain(callId);
	});
});
