import type { Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { byId, chain } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { Account } from './account';
import { allExecutions, callIdOf, published } from './calls';
import { removeServer, startServer } from './ownServer';
import { until } from '../n8n/until';

const NAME = 'Campaign Calls Trigger';
const BEFORE_THE_FIRST_CHECK = 5;
const AFTER_IT = 60;

/** n8n's scheduler ends a poll after 8 seconds here, 45 by default, and keeps nothing of the one at publication. */
describe("with n8n's scheduler, durable cursors, and a slow service", () => {
	let server: N8nServer;
	let account: Account;
	let workflow: Workflow;

	beforeAll(async () => {
		server = await startServer({
			N8N_SCHEDULER_ENABLED: 'true',
			N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
			N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
			N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true',
			N8N_SCHEDULER_POLL_TIMEOUT: '8',
		});
		account = new Account({ n8nUrl: server.baseUrl, isMapped: true, latencyMs: 400 });
		await account.open();
	});
	afterAll(async () => {
		await account.simulator.stop();
		await removeServer(server);
	});

	/** Ended calls of the campaign. */
	async function endCalls(count: number): Promise<string[]> {
		const { simulator } = account;
		const calls = Array.from({ length: count }, () =>
			simulator.addAttempt(fixtures.campaigns.active, 'picked'),
		);
		for (const callId of calls) await simulator.endCall(callId);
		return calls;
	}

	/** The calls that have started the workflow, in as many executions as it takes. */
	async function passedOn(count: number): Promise<string[]> {
		const items = async () => {
			const all = await allExecutions(account.n8n, workflow);
			const ended = all.filter(({ status }) => status === 'success');
			const outputs = ended.map(async ({ id }) => await account.n8n.output(id, NAME));
			return (await Promise.all(outputs)).flat().map(callIdOf);
		};
		return await until(
			`${count} calls`,
			async () => {
				const found = await items();
				return found.length >= count && found;
			},
			{ timeout: 240_000, every: 1_000 },
		);
	}

	it('each call starts the workflow once, also if it ended before the first check, or one check is too short for all', async () => {
		const pollTimes = { item: [{ mode: 'everyMinute' }] };
		const parameters = { campaignId: byId(fixtures.campaigns.active), pollTimes };
		const trigger = account.ours(NAME, 'campaignCallsTrigger', parameters);
		workflow = await account.publish(chain('slow polls', trigger));
		await published(server, workflow);
		const calls = await endCalls(BEFORE_THE_FIRST_CHECK);
		expect((await passedOn(calls.length)).sort()).toEqual([...calls].sort());
		calls.push(...(await endCalls(AFTER_IT)));
		expect((await passedOn(calls.length)).sort()).toEqual([...calls].sort());
		const executions = await allExecutions(account.n8n, workflow);
		expect(executions.map(({ status }) => status)).toEqual(executions.map(() => 'success'));
		// One for the first calls, and several for the others.
		expect(executions.length).toBeGreaterThan(2);
	});
});
