/** Workflows that are at work while the package is updated: two triggers, and an execution that waits for a call. */
import { randomUUID } from 'node:crypto';
import type { INode, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import type { Account } from '../e2e/account';
import { callIdOf, executionsOf, placeCalls, post } from '../e2e/calls';
import type { N8nDriver, Reference, Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, webhook } from '../n8n/workflow';
import { fixtures, type Simulator } from '../simulator';

const COMPLETED = 'Call Completed Trigger';
const EVENTS = 'Chat Events Trigger';
/** Reports that wait for a response. */
const MAX_REPORTS = 5;
/** Other calls have other numbers. */
const AWAITED = '9123456789';

/** A call that was reported to the trigger, and the status of n8n's response. Null if none came in 10 seconds. */
export interface Report {
	callId: string;
	status: number | null;
}

export class LiveWorkflows {
	private constructor(
		private readonly simulator: Simulator,
		private readonly url: string,
		readonly completed: Workflow,
		readonly events: Workflow,
		readonly waiting: Workflow,
	) {}

	/** Creates the credential, because n8n knows its type only after the installation. */
	static async publish(account: Account): Promise<LiveWorkflows> {
		await account.open();
		const { n8n, simulator, ours } = account;
		const publish = async (...nodes: INode[]) =>
			await account.publish(chain(nodes.at(-1)?.name ?? '', ...nodes));
		const webhookId = randomUUID();
		const completed = await publish(ours(COMPLETED, 'callCompletedTrigger', {}, { webhookId }));
		const session = { sessionIds: fixtures.sessions.open, eventTypes: ['mode_changed'] };
		const own = { webhookId: randomUUID() };
		const events = await publish(ours(EVENTS, 'chatEventsTrigger', session, own));
		const path = randomUUID();
		const waiting = await publish(
			webhook(path, { responseMode: 'onReceived' }),
			account.placeCall({ phoneNumber: AWAITED, waitForCompletion: 'webhook' }),
		);
		const url = `${n8n.baseUrl}/webhook/${webhookId}/call-completed`;
		const live = new LiveWorkflows(simulator, url, completed, events, waiting);
		await live.untilListening();
		await n8n.webhook(path);
		return live;
	}

	async untilListening(): Promise<void> {
		await until('the trigger to listen', async () => (await post(this.url, '')).status === 400);
		await until('the chat connection', () => this.simulator.sessions.openSockets() === 1);
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

	/** The calls that were placed for the execution that waits. */
	awaitedCalls() {
		return this.simulator.placedCalls().filter(({ phone }) => phone.endsWith(AWAITED));
	}

	/** Ends the call for which an execution waits. Returns the status of n8n's response. */
	async endAwaitedCall(): Promise<number | null> {
		const [call] = this.awaitedCalls();
		const [delivery] = await this.simulator.completeCall(call?.callId ?? '');
		return delivery?.status ?? null;
	}

	async publishAgain(n8n: N8nDriver): Promise<void> {
		await n8n.deactivate(this.completed);
		await n8n.activate(this.completed);
	}

	changeMode(mode: 'ai' | 'support'): void {
		this.simulator.sessions.setMode(fixtures.sessions.open, mode);
	}
}

/** The IDs of the calls that started executions, in the order of the IDs, when `count` have. */
export async function startedCalls(
	n8n: N8nDriver,
	workflow: Reference,
	count: number,
): Promise<string[]> {
	return (await executionsOf(n8n, workflow, COMPLETED, count)).map(callIdOf).sort();
}

export async function startedEvents(
	n8n: N8nDriver,
	workflow: Reference,
	count: number,
): Promise<INodeExecutionData[]> {
	return await executionsOf(n8n, workflow, EVENTS, count);
}
