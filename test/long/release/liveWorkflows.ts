/** Workflows that are at work while the package is updated: two triggers. */
import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type { Account } from '../../e2e/account';
import { callIdOf, executionsOf, placeCalls, post } from '../../e2e/calls';
import type { Workflow } from '../../n8n/driver';
import { until } from '../../n8n/until';
import { chain } from '../../n8n/workflow';
import { fixtures, type Simulator } from '../../simulator';

const COMPLETED = 'Call Completed Trigger';
const EVENTS = 'Chat Events Trigger';
/** Reports that wait for a response. */
const MAX_REPORTS = 5;

/** A call that was reported to the trigger, and the status of n8n's response. Null if none came in 10 seconds. */
export interface Report {
	callId: string;
	status: number | null;
}

export class LiveWorkflows {
	private readonly simulator: Simulator;

	private constructor(
		private readonly account: Account,
		private readonly url: string,
		private readonly completed: Workflow,
		private readonly events: Workflow,
	) {
		this.simulator = account.simulator;
	}

	/** Creates the credential, because n8n knows its type only after the installation. */
	static async publish(account: Account): Promise<LiveWorkflows> {
		await account.open();
		const { n8n, simulator, ours, publish } = account;
		const webhookId = randomUUID();
		const completed = await publish(
			chain(COMPLETED, ours(COMPLETED, 'callCompletedTrigger', {}, { webhookId })),
		);
		const session = { sessionIds: fixtures.sessions.open, eventTypes: ['mode_changed'] };
		const own = { webhookId: randomUUID() };
		const events = await publish(chain(EVENTS, ours(EVENTS, 'chatEventsTrigger', session, own)));
		const url = `${n8n.baseUrl}/webhook/${webhookId}/call-completed`;
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
		await until('the chat connection', () => simulator.sessions.openSockets() === 1);
		return new LiveWorkflows(account, url, completed, events);
	}

	/** Ends a call, which the service reports to the trigger. */
	async reportCall(): Promise<Report> {
		const [callId = ''] = await placeCalls(this.simulator, 1, this.url);
		const [delivery] = await this.simulator.completeCall(callId);
		return { callId, status: delivery?.status ?? null };
	}

	async reportAgain(callId: string): Promise<Report> {
		const [delivery] = await this.simulator.deliverWebhook(callId);
		return { callId, status: delivery?.status ?? null };
	}

	/** Reports a call every 100 ms until the work is done, or fewer if n8n is busy, and waits for all responses. */
	async reportDuring(work: () => Promise<void>): Promise<Report[]> {
		const limit = pLimit(MAX_REPORTS);
		const reports: Array<Promise<Report>> = [];
		const timer = setInterval(() => {
			if (limit.activeCount < MAX_REPORTS) reports.push(limit(async () => await this.reportCall()));
		}, 100);
		try {
			await work();
		} finally {
			clearInterval(timer);
		}
		return await Promise.all(reports);
	}

	changeMode(mode: 'ai' | 'support'): void {
		this.simulator.sessions.setMode(fixtures.sessions.open, mode);
	}

	/** The IDs of the calls that started executions, in the order of the IDs, when `count` have. */
	async startedCalls(count: number): Promise<string[]> {
		const items = await executionsOf(this.account.n8n, this.completed, COMPLETED, count);
		return items.map(callIdOf).sort();
	}

	/** The number of chat events that started executions, when `count` have. */
	async startedEvents(count: number): Promise<number> {
		return (await executionsOf(this.account.n8n, this.events, EVENTS, count)).length;
	}
}
