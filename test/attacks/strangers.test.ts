import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import omit from 'lodash/omit';
import pLimit from 'p-limit';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import type { N8nDriver, Reference, Workflow } from '../n8n/driver';
import { databaseMb, resetPeakMemory, memoryMb } from '../n8n/footprint';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain } from '../n8n/workflow';
import type { Simulator } from '../simulator/simulator';
import { Account } from '../e2e/account';
import { allExecutions, placeCalls, post } from '../e2e/calls';
import { removeServer, startServer } from '../e2e/ownServer';

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
