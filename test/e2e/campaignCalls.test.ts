import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { byId, chain, node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { callIdOf, executionsOf, PACKAGE } from './calls';
import { removeServer, startServer } from './ownServer';

const NAME = 'Campaign Calls Trigger';
const CAMPAIGN = fixtures.campaigns.active;
const ids = (items: INodeExecutionData[]) => items.map(callIdOf).sort();

/** Starts its own n8n, because the tests kill it. */
describe('Campaign Calls Trigger in real n8n', () => {
	let server: N8nServer;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let workflow: Workflow;
	let tested: Workflow;
	let fromStart: Workflow;
	/** Calls that must start the workflow. */
	const expected: string[] = [];

	beforeAll(async () => {
		server = await startServer();
		simulator = await startSimulator({ dialect: dialects.plain });
		n8n = await N8nDriver.signIn(server.baseUrl);
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
		const rest = { credentials: { [CREDENTIAL]: credential } };
		const create = async (name: string, over: INodeParameters = {}) => {
			const pollTimes = { item: [{ mode: 'everyMinute' }] };
			const parameters = { campaignId: byId(CAMPAIGN), pollTimes, ...over };
			const trigger = node(NAME, `${PACKAGE}.campaignCallsTrigger`, 1, parameters, rest);
			return await n8n.createWorkflow(chain(name, trigger));
		};
		workflow = await create('reading');
		tested = await create('tested');
		fromStart = await create('from start', { startFrom: '2020-01-01T00:00:00Z' });
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

	/** n8n stores the first reading when the workflow is published. */
	async function publish(): Promise<void> {
		await n8n.activate(workflow);
		await until('the first reading to be stored', async () => {
			const stored = await n8n.request('GET', `/workflows/${workflow.id}`);
			return JSON.stringify(stored).includes('"polled"');
		});
	}

	/** What the trigger has returned in as many executions. */
	const returned = async (executions: number) =>
		ids(await executionsOf(n8n, workflow, NAME, executions));

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

	it('returns each completed call once, also those that ended while n8n was killed or the workflow was unpublished', async () => {
		await publish();
		await killAndBoot(async () => await complete(3));
		expect(await returned(1)).toEqual([...expected].sort());

		await complete(20);
		expect(await returned(2)).toEqual([...expected].sort());

		for (const executions of [3, 4, 5]) {
			await n8n.deactivate(workflow);
			await complete(2);
			await n8n.activate(workflow);
			expect(await returned(executions)).toEqual([...expected].sort());
		}

		await killAndBoot(async () => await complete(1));
		expect(await returned(6)).toEqual([...expected].sort());
	});

	it('Start From: returns the earlier calls when it is published, each once', async () => {
		await n8n.activate(fromStart);
		const earlier = await executionsOf(n8n, fromStart, NAME, 1);
		expect(earlier.length).toBeGreaterThan(expected.length);
		expect(new Set(ids(earlier)).size).toBe(earlier.length);

		await n8n.deactivate(fromStart);
		await complete(2);
		await n8n.activate(fromStart);
		const later = expected.slice(-2);
		const all = await executionsOf(n8n, fromStart, NAME, 2);
		expect(ids(all)).toEqual([...ids(earlier), ...later].sort());
	});
});
