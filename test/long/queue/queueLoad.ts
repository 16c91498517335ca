/** The load on n8n in queue mode from people and the service, with a record of everything that was sent. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode } from 'n8n-workflow';
import { split, type Account } from '../../e2e/account';
import { placeCalls, post } from '../../e2e/calls';
import { deliver, type DeliveryResult } from '../../e2e/sender';
import { until } from '../../n8n/until';
import { byId, chain, node, webhook, type WorkflowJson } from '../../n8n/workflow';
import { fixtures, type Simulator } from '../../simulator';

export const KINDS = ['push', 'plain'] as const;
export type Kind = (typeof KINDS)[number];

const PEOPLE: Record<Kind, number> = { push: 5, plain: 2 };

/** When something was sent, and the latest time at which n8n may have received it, in epoch milliseconds. */
export type Sent = { from: number; to: number };

/** A request of a person to start an execution, and the response of n8n, if any. */
export type StartRequest = { kind: Kind; people: string[]; response: DeliveryResult; sent: Sent };

/** An ended call, and the results of its two deliveries and of each repeat after a rejection. */
export type ReportedCall = { callId: string; responses: DeliveryResult[]; sent: Sent };

/** A chat event. */
export type Nudge = { eventId: string; sent: Sent };

const TIMEOUT_MS = 30_000;
const MAX_DELIVERY_MS = 120_000;
const REPEATED_AFTER_MS = 20_000;

/** A chat event while the main process is down is replayed after its start. */
const MAX_RESTART_MS = 120_000;

export class QueueLoad {
	readonly requests: StartRequest[] = [];
	readonly reported: ReportedCall[] = [];
	readonly nudges: Nudge[] = [];
	private readonly simulator: Simulator;
	private readonly sessions: string[];
	private readonly handled = new Set<string>();
	private readonly paths: Record<Kind, string> = {
		push: randomUUID(),
		plain: randomUUID(),
	};
	private readonly completed = randomUUID();
	private deliveries = 0;
	private people = 0;

	constructor(
		private readonly account: Account,
		/** Base URLs of the webhook processes, which get the deliveries in turn. */
		private readonly baseUrls: readonly string[],
	) {
		this.simulator = account.simulator;
		this.sessions = Array.from({ length: 5 }, () => this.simulator.sessions.create().sessionId);
	}

	/**
	 * Resolves when each webhook process serves each workflow, and the chat sockets are open. The first completion of a
	 * workflow can start it up to two minutes late, because its process may not have activated the trigger yet.
	 */
	async start(): Promise<void> {
		for (const workflow of this.workflows()) await this.account.publish(workflow);
		for (const baseUrl of this.baseUrls) {
			const url = this.completionUrl(baseUrl);
			const [callId = ''] = await placeCalls(this.simulator, 1, url);
			this.handled.add(callId);
			await this.simulator.endCall(callId);
			const isAccepted = async () => (await post(url, { call_id: callId })).status === 200;
			await until('the first completion', isAccepted, { timeout: 240_000, every: 1_000 });
		}
		await this.untilSocketsOpen();
	}

	async untilSocketsOpen(): Promise<void> {
		const all = () => this.sessions.every((id) => this.simulator.sessions.openSockets(id) > 0);
		await until('the sockets', () => all(), { timeout: 120_000 });
	}

	/**
	 * Starts executions of each kind in turn, and sends a chat event with every third. Each start waits until n8n has
	 * capacity, because an overloaded n8n is another test.
	 */
	async startExecutions(executions: number, hasRoom: () => Promise<void>): Promise<void> {
		const started: Promise<void>[] = [];
		for (let count = 0; count < executions; count++) {
			const kind = KINDS[count % KINDS.length] ?? 'push';
			const numbers = Array.from({ length: PEOPLE[kind] }, () =>
				String(9_100_000_000 + this.people++),
			);
			started.push(this.startOne(kind, numbers));
			const session = this.sessions[count % this.sessions.length] ?? '';
			if (kind === 'push') this.nudge(session, count);
			await hasRoom();
		}
		await Promise.all(started);
	}

	private nudge(session: string, count: number): void {
		const from = Date.now();
		const eventId = this.simulator.sessions.nudge(session, count);
		this.nudges.push({ eventId, sent: { from, to: from + MAX_RESTART_MS } });
	}

	/** Reports the end of each call. */
	async serveUntil(isOver: () => boolean): Promise<void> {
		const reporting: Promise<void>[] = [];
		while (!isOver()) {
			for (const call of this.simulator.placedCalls()) {
				if (this.handled.has(call.callId)) continue;
				this.handled.add(call.callId);
				reporting.push(this.report(call.callId));
			}
			await sleep(250);
		}
		await Promise.all(reporting);
	}

	/** Repeats the request only if n8n rejected it. The sender can't know that an n8n that starts hasn't read it. */
	private async startOne(kind: Kind, people: string[]): Promise<void> {
		const body = { people: people.map((phone) => ({ phone })) };
		for (;;) {
			const from = Date.now();
			const response = await this.send(`/webhook/${this.paths[kind]}`, body, TIMEOUT_MS);
			if (!isRejected(response)) {
				this.requests.push({ kind, people, response, sent: { from, to: Date.now() } });
				return;
			}
			await sleep(1_000);
		}
	}

	/**
	 * Delivers each call twice. The sender of every third call disconnects immediately the first time, which may start
	 * nothing. Otherwise, it waits for a success. Two deliveries at the same moment may start two executions.
	 */
	private async report(callId: string): Promise<void> {
		await this.simulator.endCall(callId);
		const nth = this.reported.length;
		const responses: DeliveryResult[] = [];
		const sent = { from: Date.now(), to: Number.POSITIVE_INFINITY };
		this.reported.push({ callId, responses, sent });
		const one = async (timeoutMs: number) => {
			const end = Date.now() + MAX_DELIVERY_MS;
			for (;;) {
				const response = await this.deliverCompletion(callId, timeoutMs);
				responses.push(response);
				const seemsAccepted =
					response === 200 ||
					response === 'starting' ||
					(response === 'disconnected' && timeoutMs === 0);
				if (seemsAccepted || Date.now() > end) return;
				await sleep(2_000);
			}
		};
		await one(nth % 3 === 0 ? 0 : TIMEOUT_MS);
		await sleep(REPEATED_AFTER_MS);
		await one(TIMEOUT_MS);
		sent.to = Date.now();
	}

	private async deliverCompletion(callId: string, timeoutMs: number): Promise<DeliveryResult> {
		const body = { call_id: callId, status: 'picked' };
		return await this.send(`/webhook/${this.completed}/call-completed`, body, timeoutMs);
	}

	private async send(path: string, body: object, timeoutMs: number): Promise<DeliveryResult> {
		const baseUrl = this.baseUrls[this.deliveries++ % this.baseUrls.length] ?? '';
		return await deliver(`${baseUrl}${path}`, body, timeoutMs);
	}

	private completionUrl(baseUrl: string): string {
		return `${baseUrl}/webhook/${this.completed}/call-completed`;
	}

	private workflows(): WorkflowJson[] {
		const { account } = this;
		const push = {
			campaignId: byId(fixtures.campaigns.active),
			agentUuid: byId(fixtures.agents.full),
			whatToDo: 'wait',
			options: { output: 'summary' },
		};
		const webhookUrl = this.completionUrl(this.baseUrls[0] ?? '');
		const watched = { sessionIds: this.sessions.join(', '), eventTypes: ['nudge_sent'] };
		const completed = { webhookId: this.completed };
		return [
			this.started('push', account.ours('Ours', 'pushCampaignContacts', push)),
			this.started('plain', account.placeCall({ options: { webhookUrl } })),
			chain('completed', account.ours('Ours', 'callCompletedTrigger', {}, completed), after()),
			chain('nudged', account.ours('Ours', 'chatEventsTrigger', watched), after()),
		];
	}

	private started(kind: Kind, ours: INode): WorkflowJson {
		return chain(
			kind,
			webhook(this.paths[kind], { responseMode: 'onReceived' }),
			split(),
			ours,
			after(),
		);
	}
}

function after(): INode {
	return node('After', 'n8n-nodes-base.noOp', 1);
}

/** No connection, or a response that means that nothing was processed. */
function isRejected(response: DeliveryResult): boolean {
	return response === 'not_connected' || (typeof response === 'number' && response >= 400);
}
