/** Workflows that are at work while the package is updated: two triggers, and an execution that waits for a call. */
import { randomUUID } from 'node:crypto';
import type { INode, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { callIdOf, credentialFor, executionsOf, PACKAGE, placeCalls, post } from '../e2e/calls';
import type { N8nDriver, Reference, Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { fixtures, type Simulator } from '../simulator';

const COMPLETED = 'Call Completed Trigger';
const EVENTS = 'Chat Events Trigger';
const PLACE = 'Place Call';
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

	static async publish(n8n: N8nDriver, simulator: Simulator): Promise<LiveWorkflows> {
		const credentials = await credentialFor(n8n, simulator);
		const webhookId = randomUUID();
		const completed = await publishWorkflow(
			n8n,
			node(COMPLETED, `${PACKAGE}.callCompletedTrigger`, 2, {}, { webhookId, credentials }),
		);
		const session = { sessionIds: fixtures.sessions.open, eventTypes: ['mode_changed'] };
		const events = await publishWorkflow(
			n8n,
			node(EVENTS, `${PACKAGE}.chatEventsTrigger`, 1, session, {
				webhookId: randomUUID(),
				credentials,
			}),
		);
		const path = randomUUID();
		const call = {
			agentUuid: byId(fixtures.agents.full),
			countryCode: 'IN',
			phoneNumber: AWAITED,
			waitForCompletion: 'webhook',
		};
		const waiting = await publishWorkflow(
			n8n,
			webhook(path, { responseMode: 'onReceived' }),
			node(PLACE, `${PACKAGE}.placeCall`, 1, call, { credentials }),
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

async function publishWorkflow(n8n: N8nDriver, ...nodes: INode[]): Promise<Workflow> {
	const workflow = await n8n.createWorkflow(chain(nodes.at(-1)?.name ?? '', ...nodes));
	await n8n.activate(workflow);
	return workflow;
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
