import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import omit from 'lodash/omit';
import pLimit from 'p-limit';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import type { N8nDriver, Reference, Workflow } from '../n8n/driver';
import { databaseMb, resetPeakMemory, memoryMb } from '../n8n/footprint';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, webhook } from '../n8n/workflow';
import { fixtures } from '../simulator';
import type { Simulator } from '../simulator/simulator';
import { attack, ATTACKS, type WebhookUrls } from './attacks';
import { Account } from '../e2e/account';
import { allExecutions, placeCalls, post } from '../e2e/calls';
import { removeServer, startServer } from '../e2e/ownServer';

const MB = 1024 * 1024;
const JUNK = 1_000;

/** Bodies from strangers who know the URL. */
const BODIES: Array<() => string | Buffer> = [
	() => JSON.stringify({ call_id: randomUUID(), status: 'picked', summary: 'made up' }),
	() => '',
	() => '{"call_id":',
	() => Buffer.from([0xff, 0xfe, 0x00, 0x80]),
	() => '['.repeat(100_000),
	() => `{"data":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
	() => JSON.stringify({ __proto__: null, call_id: { call_id: [randomUUID()] } }),
	() => `{"__proto__":{"call_id":"${randomUUID()}"}}`,
	() => JSON.stringify({ call_id: '../../etc/passwd' }),
	() => JSON.stringify({ call_id: randomUUID(), more: 'x'.repeat(200_000) }),
];

let server: N8nServer;
let account: Account;
let simulator: Simulator;
let n8n: N8nDriver;

beforeAll(async () => {
	server = await startServer();
	account = new Account({ n8nUrl: server.baseUrl });
	({ n8n, simulator } = account);
	await account.open();
});
afterAll(async () => {
	await removeServer(server);
	await simulator.stop();
});

/** Publishes a workflow with a trigger of this package. Returns it with the webhook URL. */
async function publish(
	type: string,
	parameters: INodeParameters,
	path = '',
): Promise<{ workflow: Workflow; url: string }> {
	const webhookId = randomUUID();
	const own = type === 'chatDeliveryTrigger' ? { credentials: {} } : {};
	const trigger = account.ours('Trigger', type, parameters, { webhookId, ...own });
	const workflow = await account.publish(chain(`strangers: ${type}`, trigger));
	return { workflow, url: `${server.baseUrl}/webhook/${webhookId}${path}` };
}

const listening = async (url: string, status: number) =>
	await until('the trigger to listen', async () => (await post(url, '')).status === status);

const requestsTo = (path: RegExp) =>
	simulator.requests.filter((seen) => path.test(seen.path)).length;

const startedBy = async (workflow: Reference) => await allExecutions(n8n, workflow);

/** The calls that its trigger passed on, when all executions have ended. */
async function passedOn(workflow: Reference): Promise<INodeExecutionData[]> {
	const all = await until(
		'the executions to end',
		async () => {
			const executions = await startedBy(workflow);
			return executions.every(({ status }) => status === 'success') && executions;
		},
		{ timeout: 120_000, every: 1_000 },
	);
	const items: INodeExecutionData[] = [];
	for (const { id } of all) items.push(...(await n8n.output(id, 'Trigger')));
	return items;
}

/** The longest response time of n8n while `during` runs, in milliseconds. */
async function longestWait(during: () => Promise<void>): Promise<number> {
	const stop = new AbortController();
	let longest = 0;
	const probing = (async () => {
		while (!stop.signal.aborted) {
			const sentAt = Date.now();
			await fetch(`${server.baseUrl}/healthz`);
			longest = Math.max(longest, Date.now() - sentAt);
			await sleep(50);
		}
	})();
	await during().finally(() => stop.abort());
	await probing;
	return longest;
}

describe('strangers who know the URL of Call Completed Trigger', () => {
	let workflow: Workflow;
	let url: string;

	beforeAll(async () => {
		({ workflow, url } = await publish('callCompletedTrigger', {}, '/call-completed'));
		await listening(url, 400);
	});

	/** Sends invalid requests. Returns the number of responses by status. */
	async function flood(count: number): Promise<Record<number, number>> {
		const limit = pLimit(40);
		const statuses: Record<number, number> = {};
		const sending = Array.from({ length: count }, async (_, index) => {
			const body = BODIES[index % BODIES.length]?.() ?? '';
			const { status } = await limit(
				async () =>
					await fetch(url, {
						method: 'POST',
						body: typeof body === 'string' ? body : new Uint8Array(body),
					}),
			);
			statuses[status] = (statuses[status] ?? 0) + 1;
		});
		await Promise.all(sending);
		return statuses;
	}

	it(`${JUNK} invalid deliveries pass nothing on and don't fill memory or database, and the next real one works`, async () => {
		await flood(JUNK / 10);
		resetPeakMemory(server.pid);
		const before = { memory: memoryMb(server.pid, 'VmRSS'), database: databaseMb(server.home) };
		const statuses = await flood(JUNK);
		// 422 for a body that n8n can't read, and 200 for a made-up call, whose execution finds nothing.
		expect(omit(statuses, 200, 400, 422)).toEqual({});
		// n8n runs an execution for each of 200 made-up calls, many of them at the same time. Measured: 690 MB.
		expect(memoryMb(server.pid, 'VmHWM') - before.memory).toBeLessThan(800);
		expect(await passedOn(workflow)).toEqual([]);
		// A tenth of the bodies have 200 KB, which aren't stored.
		expect(databaseMb(server.home) - before.database).toBeLessThan(10);
		const [callId = ''] = await placeCalls(simulator, 1, url);
		await simulator.completeCall(callId);
		expect(await passedOn(workflow)).toMatchObject([{ json: { call_id: callId } }]);
	});

	it('a body of 100 MB is rejected, and n8n uses little memory and still responds', async () => {
		resetPeakMemory(server.pid);
		const before = memoryMb(server.pid, 'VmRSS');
		const status = await new Promise<number>((resolve, reject) => {
			const sending = request(url, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
			});
			sending.on('response', ({ statusCode = 0 }) => resolve(statusCode));
			sending.on('error', reject);
			const part = Buffer.alloc(MB, 'x');
			let remaining = 100;
			const more = () => {
				while (remaining-- > 0) if (!sending.write(part)) return void sending.once('drain', more);
				sending.end();
			};
			more();
		});
		// n8n responds itself, as for its own Webhook node.
		expect(status).toBe(500);
		expect(memoryMb(server.pid, 'VmHWM') - before).toBeLessThan(200);
		expect((await fetch(`${server.baseUrl}/healthz`)).ok).toBe(true);
	});

	it('a report of 15 MB that arrives slowly starts the workflow once, and others do not wait for it', async () => {
		const [slow = '', other = ''] = await placeCalls(simulator, 2, url);
		await simulator.endCall(slow);
		const before = (await startedBy(workflow)).length;
		const started = async (count: number) =>
			await until(
				'the executions',
				async () => (await startedBy(workflow)).length === before + count,
			);
		const text = JSON.stringify({ call_id: slow, status: 'picked', more: 'x'.repeat(15 * MB) });
		const sending = request(url, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'content-length': text.length },
		});
		const responded = new Promise<number>((resolve, reject) => {
			sending.on('response', ({ statusCode = 0 }) => resolve(statusCode));
			sending.on('error', reject);
		});
		sending.write(text.slice(0, 8 * MB));
		await simulator.completeCall(other);
		await started(1);
		for (let start = 8 * MB; start < text.length; start += MB) {
			await sleep(200);
			sending.write(text.slice(start, start + MB));
		}
		sending.end();
		expect(await responded).toBe(200);
		await started(2);
		const again = await post(url, { call_id: slow, status: 'picked' });
		expect(again.status).toBe(200);
		await started(3);
		const passed = (await passedOn(workflow)).map(({ json }) => json.call_id);
		expect(passed.filter((id) => id === slow)).toHaveLength(1);
	});
});

describe('strangers who know the URL of Chat Events Trigger', () => {
	const madeUp = (count: number) => Array.from({ length: count }, () => randomUUID());
	const watch = async (url: string, ids: string[], headers: Record<string, string> = {}) =>
		await fetch(url, {
			method: 'POST',
			headers: { 'content-type': 'application/json', ...headers },
			body: JSON.stringify({ action: 'watch', session_ids: ids }),
		});
	const staticData = async ({ id }: Reference) =>
		JSON.stringify(
			z.object({ staticData: z.unknown() }).parse(await n8n.request('GET', `/workflows/${id}`)),
		);

	it('without the secret, 20,000 made-up sessions in one request and 200 in one request each are rejected, use few resources, and store nothing', async () => {
		const watching = { sessions: 'watched', watchSecret: 'sesame' };
		const { workflow, url } = await publish('chatEventsTrigger', watching, '/watch');
		await listening(url, 403);
		const limit = pLimit(20);
		// Warm up, because n8n needs more memory after its first requests.
		const usual = await longestWait(async () => {
			await Promise.all(madeUp(100).map(async () => await limit(async () => await watch(url, []))));
		});
		simulator.reset();
		resetPeakMemory(server.pid);
		const before = memoryMb(server.pid, 'VmRSS');
		const longest = await longestWait(async () => {
			expect((await watch(url, madeUp(20_000))).status).toBe(403);
			const responses = await Promise.all(
				madeUp(200).map(async (id) => await limit(async () => await watch(url, [id]))),
			);
			expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([403]));
		});
		expect(requestsTo(/ws_token/)).toBe(0);
		expect(memoryMb(server.pid, 'VmHWM') - before).toBeLessThan(300);
		// A slow machine needs longer for any request.
		process.stdout.write(`Longest wait for n8n: ${longest} ms, with empty requests: ${usual} ms\n`);
		expect(longest).toBeLessThan(Math.max(5_000, 5 * usual));
		expect((await staticData(workflow)).length).toBeLessThan(200);
		expect(simulator.sessions.openSockets()).toBe(0);
		await n8n.deactivate(workflow);
	});
});

describe('strangers who know only a URL', () => {
	it(`${ATTACKS.length} kinds of requests get a clear response, pass nothing on, and reveal nothing`, async () => {
		const startedAt = Date.now();
		const tokens = /ws_token/;
		const before = requestsTo(tokens);
		const watching = { sessions: 'watched', watchSecret: 12345 };
		const published = {
			watch: await publish('chatEventsTrigger', watching, '/watch'),
			completed: await publish('callCompletedTrigger', {}, '/call-completed'),
			delivery: await publish('chatDeliveryTrigger', { secret: 'open-sesame' }, '/chat-delivery'),
		};
		const path = randomUUID();
		const place = account.placeCall({ phoneNumber: '9000000001', waitForCompletion: 'webhook' });
		const waiting = await account.publish(
			chain('waits', webhook(path, { responseMode: 'onReceived' }), place),
		);
		await n8n.webhook(path);
		const waitingExecution = await until('the execution to wait', async () =>
			(await allExecutions(n8n, waiting)).find(({ status }) => status === 'waiting'),
		);
		const { url: watchUrl } = published.watch;
		await listening(watchUrl, 403);
		await listening(published.completed.url, 400);
		const urls: WebhookUrls = {
			watch: watchUrl,
			completed: published.completed.url,
			delivery: published.delivery.url,
			resume: `${server.baseUrl}/webhook-waiting/${waitingExecution.id}/${place.id}`,
		};
		// A real session, whose ID must not be revealed.
		const { open } = fixtures.sessions;
		await fetch(watchUrl, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'x-watch-secret': '12345' },
			body: JSON.stringify({ action: 'watch', session_ids: [open] }),
		});
		const unexpected: string[] = [];
		const limit = pLimit(10);
		const sending = ATTACKS.map((one) =>
			limit(async () => {
				const { status, body } = await attack(urls, one);
				if (!one.statuses.includes(status)) unexpected.push(`${one.kind}: ${status} ${body}`);
				expect(body).not.toContain(open);
				expect(body).not.toContain(simulator.token);
				expect(body.length).toBeLessThan(2_000);
			}),
		);
		await Promise.all(sending);
		expect(unexpected).toEqual([]);
		// Of the real session, with a renewal each four minutes.
		const renewals = Math.ceil((Date.now() - startedAt) / 240_000);
		expect(requestsTo(tokens) - before).toBeLessThanOrEqual(1 + renewals);
		for (const { workflow } of Object.values(published)) {
			expect(await passedOn(workflow)).toEqual([]);
		}
		// The session is still watched, and the execution still waits.
		expect(simulator.sessions.openSockets(open)).toBe(1);
		const [placed] = simulator.placedCalls();
		await simulator.completeCall(placed?.callId ?? '');
		expect(await n8n.finished(waitingExecution.id)).toMatchObject({ status: 'success' });
	});
});
