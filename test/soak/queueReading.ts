/**
 * A step of `npm run test:queue`: Call Completed Trigger by reading, and by webhook and reading, while calls end and the
 * main process is killed.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { PACKAGE, placeCalls, post } from '../e2e/calls';
import { deliver } from '../e2e/sender';
import { N8nDriver } from '../n8n/driver';
import { QueueMode } from '../n8n/queueMode';
import { N8nServer, type N8nOptions } from '../n8n/server';
import { until } from '../n8n/until';
import { byId, chain, node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import type { Sent } from './queueLoad';
import { evaluateOnce, readExecutions, type Execution } from './queueVerdict';

const CAMPAIGN = fixtures.campaigns.active;
const WORKFLOWS = { reading: 'reading', both: 'webhookAndReading' } as const;

/** Time between two ended calls. */
const EVERY_MS = 100;

const TIMEOUT_MS = 30_000;
const MAX_SETTLING_MS = 300_000;

/** Executions that a reading has started when the main process is killed. */
const STARTED_BEFORE_KILL = 20;

type Options = Pick<N8nOptions, 'host' | 'home' | 'env'>;
type Outcome = { id: string; sent: Sent };

const counted = z.array(z.object({ count: z.number() })).length(1);

/** Calls end, some are reported by webhook before or after a reading, and the main process is killed in between. */
export async function testReading(options: Options, calls: number) {
	const simulator = await startSimulator({ dialect: dialects.plain, keepBodies: false });
	const queue = await QueueMode.start(options, { workers: 2, webhooks: 2 });
	try {
		const licensed = await startsSecondMain(queue, options);
		const load = new ReadingLoad(simulator, queue);
		await load.start(await N8nDriver.signIn(queue.main.baseUrl));
		await load.endCalls(calls / 2);
		await load.settled();
		// In one reading, so that it starts many executions.
		await load.endCalls(calls / 2 - STARTED_BEFORE_KILL, 0);
		await load.untilStarting();
		await queue.main.kill();
		await load.endCalls(STARTED_BEFORE_KILL, EVERY_MS, queue.webhooks);
		await queue.main.boot();
		await load.settled();
		await load.reportAgain();
		await load.nextReadings();
		await queue.untilExecutionsEnd(MAX_SETTLING_MS);
		return { secondMain: licensed ? 'started' : 'ended', ...evaluateReading(load, queue) };
	} finally {
		await queue.stop();
		await simulator.stop();
	}
}

/** n8n ends a second main process without a license. */
async function startsSecondMain({ stores }: QueueMode, options: Options): Promise<boolean> {
	const env = { ...stores.environment, ...options.env, N8N_MULTI_MAIN_SETUP_ENABLED: 'true' };
	const second = await N8nServer.start({ ...options, env }).catch(() => undefined);
	await second?.stop();
	return second !== undefined;
}

class ReadingLoad {
	/** Calls of the campaign, which both workflows read. */
	readonly listed: Outcome[] = [];
	/** Calls of no campaign, which only a webhook reports. */
	readonly unlisted: Outcome[] = [];
	private readonly webhookId = randomUUID();
	private deliveries = 0;

	constructor(
		private readonly simulator: Simulator,
		private readonly queue: QueueMode,
	) {}

	/** Resolves when both workflows have read the calls, and each webhook process serves the webhook. */
	async start(n8n: N8nDriver): Promise<void> {
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(this.simulator));
		for (const [name, getCalls] of Object.entries(WORKFLOWS)) {
			const parameters = { getCalls, campaignId: byId(CAMPAIGN), checkEvery: 1 };
			const rest = {
				credentials: { [CREDENTIAL]: credential },
				webhookId: getCalls === 'reading' ? randomUUID() : this.webhookId,
			};
			const trigger = node('Ours', `${PACKAGE}.callCompletedTrigger`, 1, parameters, rest);
			const after = node('After', 'n8n-nodes-base.noOp', 1);
			const workflow = await n8n.createWorkflow(chain(name, trigger, after));
			await n8n.activate(workflow);
			// n8n stores the first reading when the workflow is published.
			const isRead = async () => {
				const stored = await n8n.request('GET', `/workflows/${workflow.id}`);
				return JSON.stringify(stored).includes('readCalls:');
			};
			await until('the first reading', isRead, { timeout: 120_000 });
		}
		const callId = await this.endUnlisted();
		const accepted = this.queue.webhooks.map(async ({ baseUrl }) => {
			const isAccepted = async () =>
				(await post(this.url(baseUrl), { call_id: callId })).status === 200;
			await until('the first report', isAccepted, { timeout: 240_000, every: 1_000 });
		});
		await Promise.all(accepted);
	}

	/** Every third call is reported before a reading, and every tenth time, a call without a campaign ends, too. */
	async endCalls(
		count: number,
		everyMs = EVERY_MS,
		servers: readonly N8nServer[] = this.servers,
	): Promise<void> {
		const reports: Promise<unknown>[] = [];
		for (let index = 0; index < count; index++) {
			const id = this.simulator.addAttempt(CAMPAIGN, 'picked');
			this.listed.push({ id, sent: sentNow() });
			if (index % 3 === 0 && everyMs > 0) reports.push(this.report(id));
			if (index % 10 === 0) reports.push(this.reportTo(servers, await this.endUnlisted()));
			await sleep(everyMs);
		}
		await Promise.all(reports);
	}

	/** Reports each call that was read, and those without a campaign, again. */
	async reportAgain(): Promise<void> {
		for (const { id } of this.listed) await this.report(id);
		for (const { id } of this.unlisted) await this.reportTo(this.servers, id);
	}

	/** Waits until a reading starts many executions. */
	async untilStarting(): Promise<void> {
		const before = this.startedCount();
		const isStarting = () => this.startedCount() >= before + STARTED_BEFORE_KILL;
		await until('executions to start', async () => Promise.resolve(isStarting()), {
			timeout: 120_000,
			every: 10,
		});
	}

	/** Waits until each outcome has an execution, and all executions have ended. */
	async settled(): Promise<void> {
		const { queue } = this;
		const isStarted = () => {
			const executions = readExecutions(queue.stores);
			return Object.values(this.evaluate(executions)).every(({ lost }) => lost.length === 0);
		};
		// The verdict names those that are lost.
		await until('each outcome', async () => Promise.resolve(isStarted()), {
			timeout: MAX_SETTLING_MS,
			every: 2_000,
		}).catch(console.error);
		await queue.untilExecutionsEnd(MAX_SETTLING_MS);
	}

	/** Waits until both workflows have read all calls once more. */
	async nextReadings(): Promise<void> {
		const readings = () =>
			this.simulator.requests.filter(({ path }) => path === `/v1/campaigns/${CAMPAIGN}/status`);
		// The third and fourth one begin after the first and second one have ended.
		const enough = readings().length + 4;
		await until('the readings', async () => Promise.resolve(readings().length >= enough), {
			timeout: 240_000,
			every: 1_000,
		});
	}

	evaluate(executions: readonly Execution[]) {
		const of = (name: keyof typeof WORKFLOWS) =>
			executions.filter(({ workflow }) => workflow === name);
		return {
			reading: evaluateOnce(this.listed, of('reading')),
			both: evaluateOnce(this.listed, of('both')),
			unlisted: evaluateOnce(this.unlisted, of('both')),
		};
	}

	/** The processes that accept reports. */
	private get servers(): readonly N8nServer[] {
		return [...this.queue.webhooks, this.queue.main];
	}

	private startedCount(): number {
		const started = `select count(*)::int as count from execution_entity e
			join workflow_entity w on w.id = e."workflowId" where w.name = 'reading'`;
		return counted.parse(this.queue.stores.query(started))[0]?.count ?? 0;
	}

	private async endUnlisted(): Promise<string> {
		const [callId = ''] = await placeCalls(this.simulator, 1, this.url(this.queue.main.baseUrl));
		await this.simulator.endCall(callId);
		this.unlisted.push({ id: callId, sent: sentNow() });
		return callId;
	}

	/** To each process in turn, because the reading keeps them apart. A sender doesn't repeat a report of a call that is read. */
	private async report(callId: string): Promise<void> {
		const { servers } = this;
		const server = servers[this.deliveries++ % servers.length] ?? this.queue.main;
		await deliver(this.url(server.baseUrl), { call_id: callId }, TIMEOUT_MS);
	}

	/** To all of them at the same time, until each has accepted it. */
	private async reportTo(servers: readonly N8nServer[], callId: string): Promise<void> {
		const reports = servers.map(async ({ baseUrl }) => {
			const send = async () => await deliver(this.url(baseUrl), { call_id: callId }, TIMEOUT_MS);
			await until('a report', async () => (await send()) === 200, { every: 2_000 });
		});
		await Promise.all(reports);
	}

	private url(baseUrl: string): string {
		return `${baseUrl}/webhook/${this.webhookId}/call-completed`;
	}
}

function sentNow(): Sent {
	return { from: Date.now(), to: Number.POSITIVE_INFINITY };
}

function evaluateReading(load: ReadingLoad, { stores }: QueueMode) {
	const executions = readExecutions(stores);
	const read = executions.filter(({ workflow }) => workflow === 'reading');
	const repeated = load.listed.filter(
		({ id }) => read.filter(({ text }) => text.includes(`"${id}"`)).length > 1,
	);
	return {
		...load.evaluate(executions),
		// A reading never starts an execution that ends at the trigger.
		repeated: repeated.map(({ id }) => id),
	};
}
