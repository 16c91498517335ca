/** Campaign Calls Trigger over many checks of n8n: slow ones, interrupted ones, and others after a change of the trigger. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import range from 'lodash/range';
import type { INodeParameters } from 'n8n-workflow';
import { Account } from '../../e2e/account';
import { allExecutions, callIdOf, published } from '../../e2e/calls';
import { removeServer, startServer } from '../../e2e/ownServer';
import type { Workflow } from '../../n8n/driver';
import { installHost } from '../../n8n/host';
import type { N8nServer } from '../../n8n/server';
import { until } from '../../n8n/until';
import { byId, chain, node, type WorkflowJson } from '../../n8n/workflow';
import { fixtures } from '../../simulator';

const LAST = 'Calls';
const BEFORE_THE_FIRST_CHECK = 5;
const AFTER_IT = 150;
/** n8n begins one every 5 seconds. */
const UNTIL_THE_NEXT_CHECK_MS = 6_000;
const RECORD = /^\/v1\/call\/[^/]+$/;

/** n8n accepts no time that comes more often than each minute, but several. */
const EVERY_5_SECONDS = {
	item: range(0, 60, 5).map((second) => ({
		mode: 'custom',
		cronExpression: `${second} * * * * *`,
	})),
};

const DURABLE = {
	N8N_SCHEDULER_ENABLED: 'true',
	N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
	N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
	N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true',
};

/** An own n8n, and a workflow that starts with completed calls. */
class Watcher {
	private readonly nodeId = randomUUID();
	private workflow: Workflow | undefined;

	private constructor(
		readonly server: N8nServer,
		readonly account: Account,
	) {}

	static async start(env: Record<string, string>, latencyMs = 0): Promise<Watcher> {
		const server = await startServer(env);
		const account = new Account({ n8nUrl: server.baseUrl, isMapped: true, latencyMs });
		await account.open();
		return new Watcher(server, account);
	}

	async stop(): Promise<void> {
		await this.account.simulator.stop();
		await removeServer(this.server);
	}

	private json(parameters: INodeParameters, name: string): WorkflowJson {
		const campaignId = byId(fixtures.campaigns.active);
		const form = { campaignId, pollTimes: EVERY_5_SECONDS, ...parameters };
		const trigger = this.account.ours(name, 'campaignCallsTrigger', form, { id: this.nodeId });
		return chain('watched calls', trigger, node(LAST, 'n8n-nodes-base.noOp', 1));
	}

	/** Publishes the workflow, or its changes. Returns when n8n has published it. */
	async publish(parameters: INodeParameters = {}, name = 'Watch'): Promise<void> {
		const { account, workflow } = this;
		const json = this.json(parameters, name);
		this.workflow =
			workflow === undefined
				? await account.create(json)
				: await account.n8n.updateWorkflow(await account.n8n.workflow(workflow.id), json);
		await account.n8n.activate(this.workflow);
		await published(account.n8n, this.workflow);
	}

	async unpublish(): Promise<void> {
		await this.account.n8n.deactivate(this.published);
	}

	get published(): Workflow {
		if (this.workflow === undefined) throw new Error('The workflow is not published yet');
		return this.workflow;
	}

	/** Those of the campaign that have ended. */
	endedCalls(): string[] {
		const all = [...this.account.simulator.state.calls.values()];
		const { active } = fixtures.campaigns;
		const ended = all.filter(({ campaignId, finished }) => campaignId === active && finished);
		return ended.map(({ callId }) => callId);
	}

	/** Ended calls of the campaign. */
	async endCalls(count: number): Promise<string[]> {
		const { simulator } = this.account;
		const calls = Array.from({ length: count }, () =>
			simulator.addAttempt(fixtures.campaigns.active, 'picked'),
		);
		for (const callId of calls) await simulator.endCall(callId);
		return calls;
	}

	/** Ends calls, adds them to `calls`, and returns when a check is reading them. @returns a function that lets it go on */
	async holdCheck(count: number, calls: string[]): Promise<() => void> {
		const { simulator } = this.account;
		const release = simulator.holdResponses(RECORD);
		const before = simulator.requests.length;
		calls.push(...(await this.endCalls(count)));
		const isReading = () => simulator.requests.slice(before).some(({ path }) => RECORD.test(path));
		await until('a check', isReading, { timeout: 120_000 });
		return release;
	}

	/** The calls that have started the workflow, in as many executions as it takes, sorted. */
	async passedOn(count: number): Promise<string[]> {
		const { n8n } = this.account;
		const items = async () => {
			const all = await allExecutions(n8n, this.published);
			const ended = all.filter(({ status }) => status === 'success');
			const outputs = ended.map(async ({ id }) => await n8n.output(id, LAST));
			return (await Promise.all(outputs)).flat().map(callIdOf).sort();
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
}

beforeAll(async () => {
	await installHost(console.log);
});

/** n8n's scheduler ends a poll after 12 seconds here, 45 by default, and keeps nothing of the one at publication. */
describe("with n8n's scheduler, durable cursors, and a slow service", () => {
	let watcher: Watcher;
	beforeAll(async () => {
		watcher = await Watcher.start({ ...DURABLE, N8N_SCHEDULER_POLL_TIMEOUT: '12' }, 400);
	});
	afterAll(async () => await watcher.stop());

	it('each call starts the workflow once, also if it ended before the first check, or one check is too short for all', async () => {
		await watcher.publish();
		const calls = await watcher.endCalls(BEFORE_THE_FIRST_CHECK);
		expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
		calls.push(...(await watcher.endCalls(AFTER_IT)));
		expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
		const executions = await allExecutions(watcher.account.n8n, watcher.published);
		expect(executions.map(({ status }) => status)).toEqual(executions.map(() => 'success'));
		// One for the first calls, and several for the others.
		expect(executions.length).toBeGreaterThan(2);
	});
});

type Mode = {
	watcher: Watcher;
	isDurable: boolean;
	/** Those that must start the workflow. */
	calls: string[];
	/** Those that ended before the workflow was published. */
	endedBefore: string[];
};

/** In both at the same time, because most of it is waiting. */
describe("with n8n as it's installed, and with its scheduler and durable cursors,", () => {
	let modes: Mode[] = [];
	const inEach = async (run: (mode: Mode) => Promise<void>) => {
		await Promise.all(modes.map(run));
	};
	beforeAll(async () => {
		const starting = [{}, DURABLE].map(async (env): Promise<Mode> => {
			const watcher = await Watcher.start(env);
			const endedBefore = watcher.endedCalls();
			await watcher.publish();
			return { watcher, isDurable: env === DURABLE, calls: [], endedBefore };
		});
		modes = await Promise.all(starting);
	});
	afterAll(async () => await inEach(async ({ watcher }) => await watcher.stop()));

	it('if n8n is killed in the middle of a check, each call starts the workflow once', async () => {
		await inEach(async ({ watcher, calls }) => {
			const { account, server } = watcher;
			calls.push(...(await watcher.endCalls(5)));
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
			const release = await watcher.holdCheck(3, calls);
			await server.kill();
			release();
			calls.push(...(await watcher.endCalls(2)));
			await server.boot();
			await account.n8n.signIn();
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
		});
	});

	it('if a check is still running when the next one is due, each call starts the workflow once', async () => {
		await inEach(async ({ watcher, calls }) => {
			const release = await watcher.holdCheck(2, calls);
			await setTimeout(UNTIL_THE_NEXT_CHECK_MS);
			release();
			calls.push(...(await watcher.endCalls(1)));
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
		});
	});

	it('if other calls are chosen, those start the workflow that end after it is published', async () => {
		await inEach(async ({ watcher, calls }) => {
			await watcher.publish({ callsOf: 'all' });
			calls.push(...(await watcher.endCalls(2)));
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
		});
	});

	it('if Last 7 Days is chosen, or the campaign again, calls that ended before start the workflow, and none a second time', async () => {
		await inEach(async ({ watcher, calls, endedBefore }) => {
			await watcher.publish({ startFrom: 'last7Days' });
			calls.push(...endedBefore);
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
			const inDraft = { campaignId: byId(fixtures.campaigns.draft) };
			await watcher.publish({ startFrom: 'last7Days', ...inDraft });
			await watcher.publish({ startFrom: 'last7Days' });
			calls.push(...(await watcher.endCalls(1)));
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
		});
	});

	it('calls that a filter excluded start the workflow after it was removed and another start was chosen', async () => {
		await inEach(async ({ watcher, calls }) => {
			await watcher.publish({ startFrom: 'last7Days', filters: { statuses: byId('busy') } });
			calls.push(...(await watcher.endCalls(2)));
			const aWeekAgo = new Date(Date.now() - 7 * 24 * 3_600_000).toISOString();
			await watcher.publish({ startFrom: 'date', startDate: aWeekAgo });
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
		});
	});

	it('if the trigger is renamed, calls that ended before start the workflow with durable cursors, and otherwise never', async () => {
		await inEach(async ({ watcher, isDurable, calls }) => {
			await watcher.publish({ callsOf: 'all' });
			calls.push(...(await watcher.endCalls(1)));
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
			await watcher.unpublish();
			const before = await watcher.endCalls(1);
			if (isDurable) calls.push(...before);
			await watcher.publish({ callsOf: 'all' }, 'Renamed');
			calls.push(...(await watcher.endCalls(1)));
			expect(await watcher.passedOn(calls.length)).toEqual([...calls].sort());
		});
	});
});
