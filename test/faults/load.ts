import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import countBy from 'lodash/countBy';
import type { INodeParameters } from 'n8n-workflow';
import { Account, split } from '../e2e/account';
import { allExecutions, callIdOf, placeCalls, post } from '../e2e/calls';
import { deliver } from '../e2e/sender';
import type { N8nDriver, Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { fixtures } from '../simulator';
import type { Simulator } from '../simulator/simulator';

const CAMPAIGN = fixtures.campaigns.active;
const SERVICE_MS = 250;
const PEOPLE = 120;
const WAITING = 5;
const EVENTS = 60;
const EVENT_EVERY_MS = 1_000;
/** Other work of n8n, whose data needs space. */
const OTHERS = 40;
const OTHER_CHARACTERS = 2_000_000;
const SETTLING_MS = 240_000;
const ENDED = ['success', 'error', 'crashed', 'canceled'];

type Name = 'calls' | 'push' | 'waits' | 'completed';

/** What users of one n8n do while it fails: a list is called, another is pushed, people are asked, and calls end. */
export class FaultLoad {
	private readonly workflows = new Map<Name, Reference>();
	private readonly webhookId = randomUUID();
	private readonly paths = {
		calls: randomUUID(),
		push: randomUUID(),
		waits: randomUUID(),
		other: randomUUID(),
	};
	private readonly accepted: string[] = [];
	private waiting: string[] = [];
	private sentDuring = 0;

	private readonly n8n: N8nDriver;
	private readonly simulator: Simulator;
	private readonly baseUrl: string;

	private constructor(private readonly account: Account) {
		({ n8n: this.n8n, simulator: this.simulator } = account);
		({ baseUrl: this.baseUrl } = this.n8n);
	}

	static async open(n8nUrl: string): Promise<FaultLoad> {
		const account = new Account({ n8nUrl });
		await account.open();
		const load = new FaultLoad(account);
		await load.publishAll();
		return load;
	}

	async close(): Promise<void> {
		await this.simulator.stop();
	}

	/** Runs the load, and the fault in the middle of it. */
	async runWith(fault: () => Promise<unknown>): Promise<void> {
		this.simulator.configure({ latencyMs: 0 });
		await this.startWaits();
		this.simulator.configure({ latencyMs: SERVICE_MS });
		for (const name of ['calls', 'push'] as const)
			await this.n8n.webhook(this.paths[name], { people: people(PEOPLE, name) });
		const events = this.sendEvents();
		const others = this.sendOthers();
		await sleep(5_000);
		const before = this.sent();
		const failing = fault().then(() => (this.sentDuring = this.sent() - before));
		await sleep(3_000);
		const completions = this.waiting.map(
			async (id) => await this.simulator.completeCall(id, { status: 'picked' }),
		);
		await failing;
		await Promise.all([events, others, ...completions]);
	}

	/** What is known when everything has ended, before anyone intervenes and after failed executions are retried. */
	async results() {
		await this.settled();
		const first = await this.counted();
		for (const name of ['calls', 'push'] as const) {
			for (const { id, status } of await this.executions(name)) {
				if (status !== 'success') await this.n8n.startRetry(id, 'original').catch(() => '');
			}
		}
		await this.settled();
		return { sentDuring: this.sentDuring, first, afterRetry: await this.counted() };
	}

	/** Calls and contacts that n8n has sent. */
	private sent(): number {
		return this.simulator.requests.filter(
			({ method, path }) => method === 'POST' && /call$|contacts$/.test(path),
		).length;
	}

	private async counted() {
		const { simulator } = this;
		const calls = countBy(people(PEOPLE, 'calls'), ({ phone }) => simulator.callsTo(phone));
		const contacts = countBy(simulator.contactsOf(CAMPAIGN), ({ phone }) => phone);
		const pushed = countBy(people(PEOPLE, 'push'), ({ phone }) => contacts[`+91${phone}`] ?? 0);
		const started = await this.startedEvents();
		const events = countBy(this.accepted, (id) => started.filter((one) => one === id).length);
		const waits = await this.executions('waits');
		return {
			executions: {
				calls: countBy(await this.executions('calls'), 'status'),
				push: countBy(await this.executions('push'), 'status'),
				waits: countBy(waits, 'status'),
				completed: countBy(await this.executions('completed'), 'status'),
			},
			calls,
			pushed,
			events,
			messages: await this.messages(),
		};
	}

	/** The call IDs of the trigger's executions. */
	private async startedEvents(): Promise<string[]> {
		const ids: string[] = [];
		for (const { id } of await this.executions('completed')) {
			const output = await this.n8n.output(id, 'Ours').catch(() => []);
			ids.push(...output.map(callIdOf));
		}
		return ids;
	}

	private async messages(): Promise<string[]> {
		const found = new Set<string>();
		for (const name of this.workflows.keys()) {
			for (const { id, status } of await this.executions(name)) {
				if (status === 'success') continue;
				const data = await this.n8n.runData(id).catch((error: unknown) => ({ error }));
				const { error } = data;
				const text = error instanceof Object && 'message' in error ? String(error.message) : '';
				const description =
					error instanceof Object && 'description' in error ? String(error.description) : '';
				found.add(`${name} ${status}: ${text} | ${description}`.slice(0, 600));
			}
		}
		return [...found];
	}

	private async executions(name: Name): Promise<Array<{ id: string; status: string }>> {
		const workflow = this.workflows.get(name);
		return workflow === undefined ? [] : await allExecutions(this.n8n, workflow);
	}

	private async settled(): Promise<void> {
		const haveEnded = async () => {
			for (const name of this.workflows.keys()) {
				const all = await this.executions(name);
				if (all.some(({ status }) => !ENDED.includes(status))) return false;
			}
			return true;
		};
		await until('all executions to end', haveEnded, {
			timeout: SETTLING_MS,
			every: 2_000,
		}).catch(console.error);
	}

	/** Executions that wait in n8n's database. */
	private async startWaits(): Promise<void> {
		for (const one of people(WAITING, 'waits'))
			await this.n8n.webhook(this.paths.waits, { people: [one] });
		await until('the waits', async () => {
			const all = await this.executions('waits');
			return all.filter(({ status }) => status === 'waiting').length === WAITING;
		});
		this.waiting = this.simulator.placedCalls().map(({ callId }) => callId);
	}

	/** Calls end, and the service reports each until n8n accepts it. */
	private async sendEvents(): Promise<void> {
		const url = `${this.baseUrl}/webhook/${this.webhookId}/call-completed`;
		const sending: Array<Promise<unknown>> = [];
		const ids = await placeCalls(this.simulator, EVENTS, url);
		for (const id of ids) {
			await this.simulator.endCall(id, { status: 'picked' });
			const send = async () => {
				const status = await deliver(url, { call_id: id }, 30_000);
				if (status !== 200) return false;
				this.accepted.push(id);
				return true;
			};
			sending.push(until('a report', send, { timeout: 300_000, every: 3_000 }));
			await sleep(EVENT_EVERY_MS);
		}
		await Promise.all(sending);
	}

	private async sendOthers(): Promise<void> {
		const url = `${this.baseUrl}/webhook/${this.paths.other}`;
		for (let count = 0; count < OTHERS; count++) {
			await post(url, { text: 'x'.repeat(OTHER_CHARACTERS) }).catch(() => {});
			await sleep(EVENT_EVERY_MS);
		}
	}

	private async publishAll(): Promise<void> {
		const { account } = this;
		const after = node('After', 'n8n-nodes-base.noOp', 1);
		const other = webhook(this.paths.other, { responseMode: 'onReceived' });
		await account.publish(chain('other', other, after));
		const push: INodeParameters = {
			campaignId: byId(CAMPAIGN),
			agentUuid: byId(fixtures.agents.full),
			options: { output: 'requests' },
			developerSettings: { contactsPerRequest: 1 },
		};
		const nodes = {
			calls: account.placeCall(),
			push: account.ours('Ours', 'pushCampaignContacts', push),
			waits: account.placeCall({ waitForCompletion: 'webhook' }),
		};
		for (const name of ['calls', 'push', 'waits'] as const) {
			const trigger = webhook(this.paths[name], { responseMode: 'onReceived' });
			const flow = chain(name, trigger, split(), nodes[name]);
			this.workflows.set(name, await account.publish(flow));
		}
		const { webhookId } = this;
		const trigger = account.ours('Ours', 'callCompletedTrigger', {}, { webhookId });
		this.workflows.set('completed', await account.publish(chain('completed', trigger, after)));
		const url = `${this.baseUrl}/webhook/${webhookId}/call-completed`;
		const isRegistered = async () => (await post(url, {})).status !== 404;
		await until('the webhook', isRegistered, { timeout: 120_000, every: 1_000 });
	}
}

const FIRST = { calls: 9_100_000_000, push: 9_200_000_000, waits: 9_300_000_000 };

function people(count: number, name: keyof typeof FIRST): Array<{ phone: string }> {
	return Array.from({ length: count }, (_, index) => ({ phone: String(FIRST[name] + index) }));
}
