/**
 * A step of `npm run long -- queue`: Campaign Calls Trigger, while calls end and the main process is killed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Account } from '../../e2e/account';
import { firstReading } from '../../e2e/calls';
import { QueueMode } from '../../n8n/queueMode';
import type { N8nOptions } from '../../n8n/server';
import { until } from '../../n8n/until';
import { byId, chain, node } from '../../n8n/workflow';
import { fixtures, type Simulator } from '../../simulator';
import type { Sent } from './queueLoad';
import { evaluateOnce, readExecutions } from './queueVerdict';

const CAMPAIGN = fixtures.campaigns.active;

/** Time between two ended calls. */
const EVERY_MS = 100;

const MAX_SETTLING_MS = 300_000;

/** Calls that end while the main process is down. */
const MISSED = 20;

type Options = Pick<N8nOptions, 'host' | 'home' | 'env'>;
type Outcome = { id: string; sent: Sent };

const counted = z.array(z.object({ count: z.number() })).length(1);

/** Calls end, and the main process is killed as soon as a poll has returned some. */
export async function testReading(options: Options, calls: number) {
	const queue = await QueueMode.start(options, { workers: 2, webhooks: 2 });
	const account = new Account({ n8nUrl: queue.main.baseUrl, isMapped: true, keepBodies: false });
	try {
		await account.open();
		const load = new ReadingLoad(account.simulator, queue);
		await startReading(account);
		await load.endCalls(calls / 2);
		await load.settled();
		await load.endCalls(calls / 2 - MISSED, 0);
		await load.untilReturned();
		await queue.main.kill();
		await load.endCalls(MISSED);
		await queue.main.boot();
		await load.settled();
		await load.nextReadings();
		await queue.untilExecutionsEnd(MAX_SETTLING_MS);
		return load.evaluate();
	} finally {
		await queue.stop();
		await account.simulator.stop();
	}
}

/** Resolves when n8n has stored the first reading. */
async function startReading(account: Account): Promise<void> {
	const pollTimes = { item: [{ mode: 'everyMinute' }] };
	const parameters = { campaignId: byId(CAMPAIGN), pollTimes };
	const trigger = account.ours('Ours', 'campaignCallsTrigger', parameters);
	const after = node('After', 'n8n-nodes-base.noOp', 1);
	await firstReading(account.n8n, await account.publish(chain('reading', trigger, after)));
}

class ReadingLoad {
	/** Calls of the campaign. */
	private readonly listed: Outcome[] = [];

	constructor(
		private readonly simulator: Simulator,
		private readonly queue: QueueMode,
	) {}

	async endCalls(count: number, everyMs = EVERY_MS): Promise<void> {
		for (let index = 0; index < count; index++) {
			const id = this.simulator.addAttempt(CAMPAIGN, 'picked');
			this.listed.push({ id, sent: { from: Date.now(), to: Number.POSITIVE_INFINITY } });
			await sleep(everyMs);
		}
	}

	/** Waits until a poll has returned some calls. */
	async untilReturned(): Promise<void> {
		const before = this.startedCount();
		await until('an execution', () => this.startedCount() > before, {
			timeout: 120_000,
			every: 10,
		});
	}

	/** Waits until each call has an execution, and all executions have ended. */
	async settled(): Promise<void> {
		// The verdict names those that are lost.
		await until('each call', () => this.evaluate().lost.length === 0, {
			timeout: MAX_SETTLING_MS,
			every: 2_000,
		}).catch(console.error);
		await this.queue.untilExecutionsEnd(MAX_SETTLING_MS);
	}

	/** Waits until all calls were read once more. */
	async nextReadings(): Promise<void> {
		const readings = () =>
			this.simulator.requests.filter(({ path }) => path === `/v1/campaigns/${CAMPAIGN}/status`);
		const enough = readings().length + 2;
		await until('the readings', () => readings().length >= enough, {
			timeout: 240_000,
			every: 1_000,
		});
	}

	evaluate() {
		return evaluateOnce(this.listed, readExecutions(this.queue.stores));
	}

	private startedCount(): number {
		const started = `select count(*)::int as count from execution_entity e
			join workflow_entity w on w.id = e."workflowId" where w.name = 'reading'`;
		return counted.parse(this.queue.stores.query(started))[0]?.count ?? 0;
	}
}
