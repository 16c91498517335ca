import type { INodeExecutionData } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { byId, chain, node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { allExecutions, callIdOf, executionsOf, PACKAGE, post } from './calls';
import { removeServer, startServer } from './ownServer';

const NAME = 'Call Completed Trigger';
const WEBHOOK_ID = 'reading-only';
const CAMPAIGN = fixtures.campaigns.active;
const ids = (items: INodeExecutionData[]) => items.map(callIdOf).sort();

/** Starts its own n8n, because the tests kill it. */
describe('Call Completed Trigger by reading, without a public URL', () => {
	let server: N8nServer;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let workflow: Workflow;
	let tested: Workflow;
	/** Calls that must start the workflow. */
	const expected: string[] = [];

	beforeAll(async () => {
		server = await startServer();
		simulator = await startSimulator({ dialect: dialects.plain });
		n8n = await N8nDriver.signIn(server.baseUrl);
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
		const parameters = {
			getCalls: 'reading',
			callsOf: 'campaign',
			campaignId: byId(CAMPAIGN),
			checkEvery: 1,
		};
		const rest = { credentials: { [CREDENTIAL]: credential }, webhookId: WEBHOOK_ID };
		const trigger = () => node(NAME, `${PACKAGE}.callCompletedTrigger`, 1, parameters, rest);
		workflow = await n8n.createWorkflow(chain('reading', trigger()));
		tested = await n8n.createWorkflow(chain('tested', trigger()));
	});
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	/** Completes calls of the campaign. */
	async function complete(count: number): Promise<void> {
		for (let index = 0; index < count; index++) {
			const callId = simulator.addAttempt(CAMPAIGN, 'picked');
			await simulator.endCall(callId);
			expected.push(callId);
		}
	}

	/** Publishing begins with a reading. */
	async function publish(): Promise<void> {
		const readings = () =>
			simulator.requests.filter(({ path }) => path === `/v1/campaigns/${CAMPAIGN}/status`).length;
		const before = readings();
		await n8n.activate(workflow);
		await until('a reading', async () => Promise.resolve(readings() > before), { every: 100 });
	}

	async function killAndBoot(whileDown: () => Promise<void>): Promise<void> {
		await server.kill();
		await whileDown();
		await server.boot();
		n8n = await N8nDriver.signIn(server.baseUrl);
	}

	it('a test in the editor returns a completed call', async () => {
		const { id } = await n8n.runManually(tested, NAME);
		const [item] = await n8n.output(id, NAME);
		expect(item?.json).toMatchObject({ campaign_id: CAMPAIGN, status: expect.any(String) });
	});

	it('registers no webhook, and starts once for each call, also if n8n is killed in between', async () => {
		await publish();
		// n8n has stored the first reading when the workflow is published.
		await until('the workflow to be published', async () => {
			const stored = await n8n.request('GET', `/workflows/${workflow.id}`);
			return JSON.stringify(stored).includes('readCalls:');
		});
		const { status } = await post(`${server.baseUrl}/webhook/${WEBHOOK_ID}/call-completed`, '');
		expect(status).toBe(404);
		await killAndBoot(async () => await complete(3));
		expect(ids(await executionsOf(n8n, workflow, NAME, 3))).toEqual([...expected].sort());

		await complete(20);
		await until('some executions', async () => (await n8n.executions(workflow)).length > 5, {
			timeout: 240_000,
			every: 20,
		});
		await killAndBoot(async () => await complete(2));
		const started = async () => await allExecutions(n8n, workflow);
		await until(
			'an execution for each call',
			async () => (await started()).length >= expected.length,
			{ timeout: 240_000, every: 1_000 },
		);
		await n8n.deactivate(workflow);
		await publish();
		const executions = await started();
		expect(executions).toHaveLength(expected.length);
		// n8n marks executions that were in progress as crashed, without their data.
		const ended = executions.filter(({ status }) => status === 'success');
		const calls: INodeExecutionData[] = [];
		for (const { id } of ended) calls.push(...(await n8n.output(id, NAME)));
		expect(new Set(ids(calls)).size).toBe(ended.length);
		expect(expected).toEqual(expect.arrayContaining(ids(calls)));
	});
});
