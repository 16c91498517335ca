import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import omit from 'lodash/omit';
import pLimit from 'p-limit';
import { N8nDriver, type Workflow } from '../n8n/driver';
import { installPackage } from '../n8n/package-install';
import { databaseMb, forgetPeak, memoryMb } from '../n8n/footprint';
import { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node } from '../n8n/workflow';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { allExecutions, credentialFor, PACKAGE, placeCalls, post } from './calls';
import { sharedN8n } from './shared';

const MB = 1024 * 1024;
const JUNK = 1_000;

/** What strangers who have found the address send, in turn. */
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

describe('strangers who have found the address of Call Completed Trigger', () => {
	let simulator: Simulator;
	let server: N8nServer;
	let n8n: N8nDriver;
	let workflow: Workflow;
	let url: string;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect: dialects.plain });
		const home = await mkdtemp(join(tmpdir(), 'n8n-strangers-'));
		await installPackage(home);
		server = await N8nServer.start({ host: sharedN8n().host, home });
		n8n = await N8nDriver.signIn(server.baseUrl);
		const webhookId = randomUUID();
		const credentials = await credentialFor(n8n, simulator);
		const type = `${PACKAGE}.callCompletedTrigger`;
		workflow = await n8n.createWorkflow(
			chain('strangers', node('Trigger', type, 1, {}, { webhookId, credentials })),
		);
		await n8n.activate(workflow);
		url = `${server.baseUrl}/webhook/${webhookId}/call-completed`;
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
	});
	afterAll(async () => {
		await server.stop();
		await simulator.stop();
		await rm(server.home, { recursive: true, force: true });
	});

	/** How many got which answer. */
	async function flood(count: number): Promise<Record<number, number>> {
		const limit = pLimit(40);
		const answers: Record<number, number> = {};
		const sending = Array.from({ length: count }, async (_, index) => {
			const body = BODIES[index % BODIES.length]?.() ?? '';
			const { status } = await limit(
				async () =>
					await fetch(url, {
						method: 'POST',
						body: typeof body === 'string' ? body : new Uint8Array(body),
					}),
			);
			answers[status] = (answers[status] ?? 0) + 1;
		});
		await Promise.all(sending);
		return answers;
	}

	/** Executions that a delivery has started; a failed one tells the owner of something. */
	const started = async () =>
		(await allExecutions(n8n, workflow)).filter(({ status }) => status !== 'error');

	it(`${JUNK} deliveries of junk start nothing, fill neither memory nor database, and the next real one counts`, async () => {
		const begun = Date.now();
		await flood(JUNK / 10);
		forgetPeak(server.pid);
		const before = { memory: memoryMb(server.pid, 'VmRSS'), database: databaseMb(server.home) };
		const answers = await flood(JUNK);
		// 503 where a busy n8n has not verified a made-up call within the sender's patience.
		expect(omit(answers, 400, 404, 503)).toEqual({});
		expect(memoryMb(server.pid, 'VmHWM') - before.memory).toBeLessThan(400);
		expect(databaseMb(server.home) - before.database).toBeLessThan(2);
		expect(await started()).toEqual([]);
		const [callId = ''] = await placeCalls(simulator, 1, url);
		await simulator.completeCall(callId);
		await until('the execution', async () => (await started()).length === 1);
		const seconds = (Date.now() - begun) / 1_000;
		const reads = simulator.requests.filter(({ path }) => path.startsWith('/v1/call/')).length;
		// Two for each of 60 made-up calls, and of one more each second.
		expect(reads).toBeLessThanOrEqual(2 * (60 + seconds) + 1);
		// The owner is told of the flood, once.
		const failed = (await allExecutions(n8n, workflow)).length - 1;
		expect(failed).toBeLessThanOrEqual(1);
	}, 300_000);

	it('a body of 100 MB is refused, and n8n stays small and answers', async () => {
		forgetPeak(server.pid);
		const before = memoryMb(server.pid, 'VmRSS');
		const status = await new Promise<number>((resolve, reject) => {
			const sending = request(url, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
			});
			sending.on('response', ({ statusCode = 0 }) => resolve(statusCode));
			sending.on('error', reject);
			const part = Buffer.alloc(MB, 'x');
			let left = 100;
			const more = () => {
				while (left-- > 0) if (!sending.write(part)) return void sending.once('drain', more);
				sending.end();
			};
			more();
		});
		expect(status).toBe(413);
		expect(memoryMb(server.pid, 'VmHWM') - before).toBeLessThan(200);
		expect((await fetch(`${server.baseUrl}/healthz`)).ok).toBe(true);
	});

	it('while the service cannot be read, junk makes one failed execution, not hundreds', async () => {
		const known = (await allExecutions(n8n, workflow)).length;
		simulator.faults.inject({ kind: 'status', status: 403 });
		await flood(500);
		simulator.faults.clear();
		const failed = async () => (await allExecutions(n8n, workflow)).length - known;
		await until('the owner to be told', async () => (await failed()) > 0, { timeout: 60_000 });
		expect(await failed()).toBeLessThan(4);
	});
});
