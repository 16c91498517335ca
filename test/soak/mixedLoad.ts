/** Workflows of a typical day, and the load on them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode, INodeParameters } from 'n8n-workflow';
import { deliver } from '../e2e/sender';
import { placeCalls, post } from '../e2e/calls';
import type { N8nDriver, Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { fixtures, type Simulator } from '../simulator';

const PACKAGE = 'n8n-nodes-voice-chat-agent';
const AGENT = { agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full } };

/** After this time, the load pauses until the resources were measured. */
const WORKING_MS = 40_000;

/** This long after the last work, n8n counts as idle. */
const IDLE_AFTER_MS = 8_000;

/** The results of one kind of work. */
export type Tally = { done: number; failed: number };

/** The interval of each kind of work in milliseconds. Each has a workflow with its name, except strangers. */
const EVERY = {
	push: 4_000,
	calls: 4_000,
	completions: 2_000,
	strangers: 4_000,
	chat: 3_000,
	nudges: 1_000,
	lookUps: 4_000,
};

export type Work = keyof typeof EVERY;

/** The timeout of deliveries. A stranger disconnects immediately. */
const TIMEOUT_MS = 10_000;

export class MixedLoad {
	readonly tallies: { [resume in Work]: Tally } = {
		push: { done: 0, failed: 0 },
		calls: { done: 0, failed: 0 },
		completions: { done: 0, failed: 0 },
		strangers: { done: 0, failed: 0 },
		chat: { done: 0, failed: 0 },
		nudges: { done: 0, failed: 0 },
		lookUps: { done: 0, failed: 0 },
	};
	/** The number of requests that n8n rejected because it was busy. They were repeated. */
	rejected = 0;
	private people = 0;
	private inFlight = 0;
	private pausesAt = 0;
	private lastEnd = 0;
	private readonly listenedTo: string[];
	private readonly chatted: string[];

	private constructor(
		private readonly n8n: N8nDriver,
		private readonly simulator: Simulator,
		private readonly credentials: Record<string, Reference>,
	) {
		const sessions = (count: number) =>
			Array.from({ length: count }, () => simulator.sessions.create().sessionId);
		this.listenedTo = sessions(5);
		this.chatted = sessions(5);
	}

	private readonly paths = { push: randomUUID(), calls: randomUUID(), chat: randomUUID() };
	private readonly lookUps = randomUUID();
	private readonly completed = randomUUID();

	/** Creates the workflows. Resolves when every trigger listens. */
	static async start(
		n8n: N8nDriver,
		simulator: Simulator,
		credentials: Record<string, Reference>,
	): Promise<MixedLoad> {
		const load = new MixedLoad(n8n, simulator, credentials);
		for (const workflow of load.workflows()) await n8n.activate(await n8n.createWorkflow(workflow));
		const trigger = load.completionUrl;
		await until('the trigger', async () => (await post(trigger, '')).status === 400);
		await until('the sockets', async () =>
			Promise.resolve(load.listenedTo.every((id) => simulator.sessions.openSockets(id) > 0)),
		);
		simulator.setAutoComplete({ afterMs: 1_500, delivery: { deliverTimes: 2 } });
		return load;
	}

	/** Runs each kind of work until `end`, and waits for its results. */
	async run(end: number): Promise<void> {
		const lanes: Array<[Work, () => Promise<void>]> = [
			['push', async () => await this.push()],
			['calls', async () => await this.calls()],
			['completions', async () => await this.completions()],
			['strangers', async () => await this.strangers()],
			['chat', async () => await this.chat()],
			['nudges', async () => await this.nudge()],
			['lookUps', async () => await this.lookUp()],
		];
		await Promise.all(lanes.map(async ([work, act]) => await this.lane(work, act, end)));
	}

	/** The number of completed works of a workflow, with one execution each. */
	done(workflow: string): number {
		return Object.entries(this.tallies).find(([work]) => work === workflow)?.[1].done ?? 0;
	}

	private async lane(work: Work, act: () => Promise<void>, end: number): Promise<void> {
		const started: Promise<void>[] = [];
		while (Date.now() < end) {
			if (Date.now() > this.pausesAt) {
				await sleep(500);
				continue;
			}
			const tally = this.tallies[work];
			const one = this.counted(act).then(
				() => {
					tally.done++;
				},
				(error: unknown) => {
					tally.failed++;
					console.error(`${work}:`, error);
				},
			);
			started.push(one);
			await sleep(EVERY[work]);
		}
		await Promise.all(started);
	}

	private async counted(act: () => Promise<void>): Promise<void> {
		this.inFlight++;
		await act().finally(() => {
			this.inFlight--;
			this.lastEnd = Date.now();
		});
	}

	work(): void {
		this.pausesAt = Date.now() + WORKING_MS;
	}

	/** Whether no work was in flight for a while. */
	get isCalm(): boolean {
		return this.inFlight === 0 && Date.now() - this.lastEnd > IDLE_AFTER_MS;
	}

	private workflows(): WorkflowJson[] {
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
		const campaign = String(fixtures.campaigns.active);
		const wait = { waitForCompletion: 'webhook', waitLimit: 5, waitLimitUnit: 'minutes' };
		const sessionId = '={{ $json.body.session }}';
		return [
			chain(
				'push',
				webhook(this.paths.push),
				split,
				this.ours('pushCampaignContacts', {
					campaignId: byId(campaign),
					...AGENT,
					options: { output: 'requests' },
				}),
			),
			chain(
				'calls',
				webhook(this.paths.calls, { responseMode: 'onReceived' }),
				split,
				this.ours('placeCall', {
					...AGENT,
					countryCode: 'IN',
					phoneNumber: '={{ $json.phone }}',
					...wait,
				}),
			),
			chain('completions', this.ours('callCompletedTrigger', {}, this.completed), after()),
			chain(
				'chat',
				webhook(this.paths.chat),
				this.ours('chatSend', {
					operation: 'sendMessage',
					sendBy: 'socket',
					sessionId,
					message: 'Hello',
				}),
			),
			chain(
				'nudges',
				this.ours('chatEventsTrigger', {
					sessionIds: this.listenedTo.join(', '),
					eventTypes: ['nudge_sent'],
				}),
				after(),
			),
			chain(
				'lookUps',
				webhook(this.lookUps),
				this.named('Many', 'getCall', { operation: 'getMany', limit: 20 }),
				{ ...this.named('One', 'getCall', { callId: fixtures.calls.finished }), executeOnce: true },
				this.dnd('Add', { operation: 'add' }),
				this.dnd('Check', { operation: 'check' }),
				this.dnd('Remove', { operation: 'remove' }),
			),
		];
	}

	private ours(type: string, parameters: INodeParameters, webhookId?: string): INode {
		return this.named(type, type, parameters, webhookId);
	}

	private named(
		name: string,
		type: string,
		parameters: INodeParameters,
		webhookId?: string,
	): INode {
		const { credentials } = this;
		const rest = webhookId === undefined ? { credentials } : { credentials, webhookId };
		const version = type === 'callCompletedTrigger' ? 2 : 1;
		return node(name, `${PACKAGE}.${type}`, version, parameters, rest);
	}

	private dnd(name: string, parameters: INodeParameters): INode {
		const phone = "={{ $('Webhook').item.json.body.phone }}";
		return this.named(name, 'dnd', { ...AGENT, phone, ...parameters });
	}

	private get completionUrl(): string {
		return `${this.n8n.baseUrl}/webhook/${this.completed}/call-completed`;
	}

	private async push(): Promise<void> {
		await this.start(this.paths.push, { people: this.newPeople(20) });
		// Keeps the responses about the campaign short.
		this.simulator.state.campaigns.get(fixtures.campaigns.active)?.uploads.splice(2);
	}

	private async calls(): Promise<void> {
		await this.start(this.paths.calls, { people: this.newPeople(3) });
	}

	private async completions(): Promise<void> {
		const [callId = ''] = await placeCalls(this.simulator, 1, 'http://127.0.0.1:9');
		await this.simulator.completeCall(callId);
		const body = { call_id: callId, status: 'picked' };
		const send = async () => await deliver(this.completionUrl, body, TIMEOUT_MS);
		const twice = [send, send].map(async (one) => await this.sendUntilAccepted(one));
		for (const status of await Promise.all(twice)) expect('completion', status, 200);
	}

	/** Unknown calls, invalid bodies, a large body, and a sender that disconnects. */
	private async strangers(): Promise<void> {
		const url = this.completionUrl;
		const unknown = { call_id: randomUUID() };
		const filler = { filler: 'x'.repeat(100_000) };
		expect('an unknown call', await this.postTo(url, unknown), 404);
		expect('invalid JSON', await this.postTo(url, '{"call_id": '), 400);
		expect('a body without a call', await this.postTo(url, filler), 400);
		expect('a sender that disconnects', await deliver(url, unknown, 0), 'disconnected');
	}

	private async chat(): Promise<void> {
		const session = this.chatted[this.tallies.chat.done % this.chatted.length];
		await this.start(this.paths.chat, { session });
	}

	private async nudge(): Promise<void> {
		const at = this.tallies.nudges.done;
		this.simulator.sessions.nudge(this.listenedTo[at % this.listenedTo.length] ?? '', at);
		await Promise.resolve();
	}

	private async lookUp(): Promise<void> {
		const [person] = this.newPeople(1);
		await this.start(this.lookUps, { phone: person?.phone });
	}

	private newPeople(count: number): Array<{ phone: string; city: string }> {
		return Array.from({ length: count }, () => ({
			phone: String(9_000_000_000 + this.people++),
			city: 'Pune',
		}));
	}

	private async start(path: string, body: unknown): Promise<void> {
		expect(path, await this.postTo(`${this.n8n.baseUrl}/webhook/${path}`, body), 200);
	}

	private async postTo(url: string, body: unknown): Promise<number> {
		return await this.sendUntilAccepted(async () => (await post(url, body)).status);
	}

	private async sendUntilAccepted<T>(send: () => Promise<T | 503>): Promise<T | 503> {
		for (;;) {
			const response = await send();
			if (response !== 503) return response;
			this.rejected++;
			await sleep(1_000);
		}
	}
}

function after(): INode {
	return node('After', 'n8n-nodes-base.noOp', 1);
}

function expect(what: string, found: unknown, wanted: unknown): void {
	if (found !== wanted)
		throw new Error(`${what}: got ${String(found)}, expected ${String(wanted)}`);
}
