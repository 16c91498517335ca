/** What people and the service do to n8n in queue mode, and a book of what each must come to. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode, INodeParameters } from 'n8n-workflow';
import { placeCalls, post } from '../e2e/calls';
import { deliver, type Delivered } from '../e2e/sender';
import type { N8nDriver, Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { fixtures, type Simulator } from '../simulator';

const PACKAGE = 'n8n-nodes-voice-chat-agent';
const AGENT = { agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full } };

export const KINDS = ['push', 'plain', 'asleep'] as const;
export type Kind = (typeof KINDS)[number];

const PEOPLE: Record<Kind, number> = { push: 5, plain: 2, asleep: 2 };

/** When something was sent, in epoch milliseconds, and until when n8n may have taken it. */
export type Sent = { from: number; to: number };

/** One wish of a person, and what n8n said to it: an answer, or none. */
export type Order = { kind: Kind; people: string[]; answer: Delivered; sent: Sent };

/** A call that was over, and what became of its two deliveries and of each that followed a rejection. */
export type Reported = { callId: string; answers: Delivered[]; sent: Sent };

/** A chat event. */
export type Nudge = { eventId: string; sent: Sent };

/** A wait that nobody wakes is ended by n8n itself a minute after this. */
const WAIT_MINUTES = 2;

const PATIENCE_MS = 30_000;
const LONGEST_DELIVERING_MS = 120_000;

/** A chat event that comes while the main process is down is replayed when it is back. */
const LONGEST_RESTART_MS = 120_000;

export class QueueLoad {
	readonly wishes: Order[] = [];
	readonly reported: Reported[] = [];
	readonly nudges: Nudge[] = [];
	private readonly sessions: string[];
	private readonly handled = new Set<string>();
	private readonly paths: Record<Kind, string> = {
		push: randomUUID(),
		plain: randomUUID(),
		asleep: randomUUID(),
	};
	private readonly completed = randomUUID();
	private deliveries = 0;
	private hasEnded = false;

	constructor(
		private readonly simulator: Simulator,
		private readonly credentials: Record<string, Reference>,
		/** Of the webhook processes; deliveries come to them by turns. */
		private readonly addresses: readonly string[],
	) {
		this.sessions = Array.from({ length: 5 }, () => simulator.sessions.create().sessionId);
	}

	/**
	 * Resolves when each webhook process serves each workflow, and the chat sockets stand. The first completion of a
	 * workflow starts it up to two minutes late: until then its process may be one whose trigger is still to come.
	 */
	async begin(n8n: N8nDriver): Promise<void> {
		for (const workflow of this.workflows()) await n8n.activate(await n8n.createWorkflow(workflow));
		for (const address of this.addresses) {
			const url = this.completionUrl(address);
			const [callId = ''] = await placeCalls(this.simulator, 1, url);
			this.handled.add(callId);
			await this.simulator.endCall(callId);
			const isTaken = async () => (await post(url, { call_id: callId })).status === 200;
			await until('the first completion', isTaken, { timeout: 240_000, every: 1_000 });
		}
		await this.socketsStand();
	}

	async socketsStand(): Promise<void> {
		const all = () => this.sessions.every((id) => this.simulator.sessions.openSockets(id) > 0);
		await until('the sockets', async () => Promise.resolve(all()), { timeout: 120_000 });
	}

	/**
	 * Begins so many executions, by turns of each kind; with every third a chat event comes. Each waits until n8n has
	 * room for it: an n8n that is too busy is another test.
	 */
	async wish(executions: number, hasRoom: () => Promise<void>): Promise<void> {
		const begun: Promise<void>[] = [];
		let people = 0;
		for (let count = 0; count < executions; count++) {
			const kind = KINDS[count % KINDS.length] ?? 'push';
			const numbers = Array.from({ length: PEOPLE[kind] }, () => String(9_100_000_000 + people++));
			begun.push(this.wishOne(kind, numbers));
			const session = this.sessions[count % this.sessions.length] ?? '';
			if (kind === 'push') this.nudge(session, count);
			await hasRoom();
		}
		await Promise.all(begun);
	}

	private nudge(session: string, count: number): void {
		const from = Date.now();
		const eventId = this.simulator.sessions.nudge(session, count);
		this.nudges.push({ eventId, sent: { from, to: from + LONGEST_RESTART_MS } });
	}

	/** Runs until `end`: reports each call as over. */
	async serve(): Promise<void> {
		const reporting: Promise<void>[] = [];
		while (!this.hasEnded) {
			for (const call of this.simulator.placedCalls()) {
				if (this.handled.has(call.callId)) continue;
				this.handled.add(call.callId);
				const isOurs = call.webhookUrl?.endsWith('/call-completed') === true;
				reporting.push(isOurs ? this.report(call.callId) : this.wake(call.callId));
			}
			await sleep(250);
		}
		await Promise.all(reporting);
	}

	end(): void {
		this.hasEnded = true;
	}

	/** Asked again only where surely nobody took it. */
	private async wishOne(kind: Kind, people: string[]): Promise<void> {
		const body = { people: people.map((phone) => ({ phone })) };
		for (;;) {
			const from = Date.now();
			const answer = await this.send(`/webhook/${this.paths[kind]}`, body, PATIENCE_MS);
			if (!isRejected(answer)) {
				this.wishes.push({ kind, people, answer, sent: { from, to: Date.now() } });
				return;
			}
			await sleep(1_000);
		}
	}

	/** Every third call is reported by a sender that hangs up at once, and once more later; the others want a yes. */
	private async report(callId: string): Promise<void> {
		await this.simulator.endCall(callId);
		const nth = this.reported.length;
		const answers: Delivered[] = [];
		const sent = { from: Date.now(), to: Number.POSITIVE_INFINITY };
		this.reported.push({ callId, answers, sent });
		const one = async (patienceMs: number) => {
			const end = Date.now() + LONGEST_DELIVERING_MS;
			for (;;) {
				const answer = await this.deliverCompletion(callId, patienceMs);
				answers.push(answer);
				const isTaken = answer === 200 || (answer === 'left' && patienceMs === 0);
				if (isTaken || Date.now() > end) return;
				await sleep(2_000);
			}
		};
		if (nth % 3 === 0) {
			await one(0);
			await sleep(20_000);
			await one(0);
		} else {
			await Promise.all([one(PATIENCE_MS), one(PATIENCE_MS)]);
		}
		// A sender that hung up does not know when it was heard.
		sent.to = Date.now() + PATIENCE_MS;
	}

	private async deliverCompletion(callId: string, patienceMs: number): Promise<Delivered> {
		const body = { call_id: callId, status: 'picked' };
		return await this.send(`/webhook/${this.completed}/call-completed`, body, patienceMs);
	}

	/** Delivered twice and never again, whatever becomes of it. */
	private async wake(callId: string): Promise<void> {
		await sleep(1_500);
		await this.simulator.completeCall(callId, {}, { deliverTimes: 2 });
	}

	private async send(path: string, body: object, patienceMs: number): Promise<Delivered> {
		const address = this.addresses[this.deliveries++ % this.addresses.length] ?? '';
		return await deliver(`${address}${path}`, body, patienceMs);
	}

	private completionUrl(address: string): string {
		return `${address}/webhook/${this.completed}/call-completed`;
	}

	private workflows(): WorkflowJson[] {
		const campaignId = String(fixtures.campaigns.active);
		const settings = {
			waitForCompletion: 'webhook',
			waitLimit: WAIT_MINUTES,
			waitLimitUnit: 'minutes',
		};
		const webhookUrl = this.completionUrl(this.addresses[0] ?? '');
		return [
			this.started('push', this.ours('pushCampaignContacts', { ...AGENT, campaignId })),
			this.started('plain', this.placeCall({ webhookUrl })),
			this.started('asleep', this.placeCall({ wait: { settings } })),
			chain('completed', this.ours('callCompletedTrigger', {}, this.completed), after()),
			chain(
				'nudged',
				this.ours('chatEventsTrigger', {
					sessionIds: this.sessions.join(', '),
					eventTypes: ['nudge_sent'],
				}),
				after(),
			),
		];
	}

	private started(kind: Kind, ours: INode): WorkflowJson {
		const begin = webhook(this.paths[kind], { responseMode: 'onReceived' });
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
		return chain(kind, begin, split, ours, after());
	}

	private placeCall(options: INodeParameters): INode {
		const phoneNumber = '={{ $json.phone }}';
		return this.ours('placeCall', { ...AGENT, countryCode: 'IN', phoneNumber, options });
	}

	private ours(type: string, parameters: INodeParameters, webhookId?: string): INode {
		const { credentials } = this;
		const rest = webhookId === undefined ? { credentials } : { credentials, webhookId };
		return node('Ours', `${PACKAGE}.${type}`, 1, parameters, rest);
	}
}

function after(): INode {
	return node('After', 'n8n-nodes-base.noOp', 1);
}

/** No connection, or an answer that says that nothing was taken. */
function isRejected(answer: Delivered): boolean {
	return answer === 'rejected' || (typeof answer === 'number' && answer >= 400);
}
