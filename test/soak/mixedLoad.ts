/** The workflows of a day's work, and what keeps them busy. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode, INodeParameters } from 'n8n-workflow';
import { deliver } from '../e2e/sender';
import { placeCalls, post } from '../e2e/calls';
import type { N8nDriver, Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { fixtures, type Simulator } from '../simulator';

const PACKAGE = 'n8n-nodes-voice-chat-agent';
const AGENT = { agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full } };

/** After so much work it rests until somebody has looked at what is left over. */
const WORKING_MS = 40_000;

/** So long after the last work nothing of it is under way any more. */
const CALM_AFTER_MS = 8_000;

/** What one kind of work came to. */
export type Tally = { done: number; failed: number };

/** How often each kind of work is begun, in milliseconds; all but strangers have a workflow of their name. */
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

/** No delivery of the service waits for it; a stranger leaves at once. */
const PATIENCE_MS = 10_000;

export class MixedLoad {
	readonly tallies: { [work in Work]: Tally } = {
		push: { done: 0, failed: 0 },
		calls: { done: 0, failed: 0 },
		completions: { done: 0, failed: 0 },
		strangers: { done: 0, failed: 0 },
		chat: { done: 0, failed: 0 },
		nudges: { done: 0, failed: 0 },
		lookUps: { done: 0, failed: 0 },
	};
	/** How often n8n itself was too busy to take something, which was then brought again. */
	rejected = 0;
	private people = 0;
	private underWay = 0;
	private restsFrom = 0;
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

	/** Resolves when every trigger listens. */
	static async begin(
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

	/** Each kind of work goes on by itself until `end`; what it began is waited for. */
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

	/** How much of a workflow's work was done, each time with one execution. */
	done(workflow: string): number {
		return Object.entries(this.tallies).find(([work]) => work === workflow)?.[1].done ?? 0;
	}

	private async lane(work: Work, act: () => Promise<void>, end: number): Promise<void> {
		const begun: Promise<void>[] = [];
		while (Date.now() < end) {
			if (Date.now() > this.restsFrom) {
				await sleep(500);
				continue;
			}
			const tally = this.tallies[work];
			const one = this.followed(act).then(
				() => {
					tally.done++;
				},
				(error: unknown) => {
					tally.failed++;
					console.error(`${work}:`, error);
				},
			);
			begun.push(one);
			await sleep(EVERY[work]);
		}
		await Promise.all(begun);
	}

	private async followed(act: () => Promise<void>): Promise<void> {
		this.underWay++;
		await act().finally(() => {
			this.underWay--;
			this.lastEnd = Date.now();
		});
	}

	work(): void {
		this.restsFrom = Date.now() + WORKING_MS;
	}

	/** Whether nothing was under way for a while. */
	get isCalm(): boolean {
		return this.underWay === 0 && Date.now() - this.lastEnd > CALM_AFTER_MS;
	}

	private workflows(): WorkflowJson[] {
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
		const campaign = String(fixtures.campaigns.active);
		const wait = {
			settings: { waitForCompletion: 'webhook', waitLimit: 5, waitLimitUnit: 'minutes' },
		};
		const sessionId = '={{ $json.body.session }}';
		return [
			chain(
				'push',
				webhook(this.paths.push),
				split,
				this.ours('pushCampaignContacts', { campaignId: campaign, ...AGENT }),
			),
			chain(
				'calls',
				webhook(this.paths.calls, { responseMode: 'onReceived' }),
				split,
				this.ours('placeCall', {
					...AGENT,
					countryCode: 'IN',
					phoneNumber: '={{ $json.phone }}',
					options: { wait },
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
		return node(name, `${PACKAGE}.${type}`, 1, parameters, rest);
	}

	private dnd(name: string, parameters: INodeParameters): INode {
		const phone = "={{ $('Webhook').item.json.body.phone }}";
		return this.named(name, 'dnd', { ...AGENT, phone, ...parameters });
	}

	private get completionUrl(): string {
		return `${this.n8n.baseUrl}/webhook/${this.completed}/call-completed`;
	}

	private async push(): Promise<void> {
		await this.start(this.paths.push, { people: this.someBody(20) });
		// What a campaign has taken in would make each answer about it longer than the last.
		this.simulator.state.campaigns.get(fixtures.campaigns.active)?.uploads.splice(2);
	}

	private async calls(): Promise<void> {
		await this.start(this.paths.calls, { people: this.someBody(3) });
	}

	private async completions(): Promise<void> {
		const [callId = ''] = await placeCalls(this.simulator, 1, 'http://127.0.0.1:9');
		await this.simulator.completeCall(callId);
		const body = { call_id: callId, status: 'picked' };
		const send = async () => await deliver(this.completionUrl, body, PATIENCE_MS);
		const twice = [send, send].map(async (one) => await this.taken(one));
		for (const status of await Promise.all(twice)) expect('completion', status, 200);
	}

	/** Calls that nobody knows, bodies that are none, a lot of nothing, and one who hangs up. */
	private async strangers(): Promise<void> {
		const url = this.completionUrl;
		const unknown = { call_id: randomUUID() };
		const filler = { filler: 'x'.repeat(100_000) };
		expect('an unknown call', await this.answerTo(url, unknown), 404);
		expect('no JSON', await this.answerTo(url, '{"call_id": '), 400);
		expect('no call', await this.answerTo(url, filler), 400);
		expect('one who hangs up', await deliver(url, unknown, 0), 'left');
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
		const [person] = this.someBody(1);
		await this.start(this.lookUps, { phone: person?.phone });
	}

	private someBody(count: number): Array<{ phone: string; city: string }> {
		return Array.from({ length: count }, () => ({
			phone: String(9_000_000_000 + this.people++),
			city: 'Pune',
		}));
	}

	private async start(path: string, body: unknown): Promise<void> {
		expect(path, await this.answerTo(`${this.n8n.baseUrl}/webhook/${path}`, body), 200);
	}

	private async answerTo(url: string, body: unknown): Promise<number> {
		return await this.taken(async () => (await post(url, body)).status);
	}

	private async taken<T>(send: () => Promise<T | 503>): Promise<T | 503> {
		for (;;) {
			const answer = await send();
			if (answer !== 503) return answer;
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
		throw new Error(`${what}: ${String(found)} where ${String(wanted)} was due`);
}
