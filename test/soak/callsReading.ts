/**
 * `npm run long -- calls-reading [--rate 1000 --minutes 10 --work 2]`: calls of a campaign end at a steady rate, and Call
 * Completed Trigger reads them every minute. Each execution waits for `--work` seconds. n8n runs in queue mode with two
 * workers (Debian's Redis and PostgreSQL). Prints what was started, lost, and started twice, the time from the end of a
 * call to the next node, and how fast n8n responded. Fails if a call was lost or started twice. `--save` stores the figures
 * in results.json.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import mapValues from 'lodash/mapValues';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { spansIn } from '../bench/executions';
import { quantile } from '../bench/report';
import { credentialFor } from '../contract/credentialFor';
import { PACKAGE } from '../e2e/calls';
import { runScript } from '../n8n/command';
import { N8nDriver, type Workflow } from '../n8n/driver';
import { installHost, n8nVersion } from '../n8n/host';
import { installPackage } from '../n8n/package-install';
import { QueueMode } from '../n8n/queueMode';
import type { QueueStores } from '../n8n/queueStores';
import { EXPRESSION_ENGINE, LONG_PING_TIMEOUT } from '../n8n/server';
import { until } from '../n8n/until';
import { byId, chain, node, waitNode } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import type { Pids } from './completionBlock';
import { treeCpuMs } from './processCpu';
import { Responsiveness } from './responsiveness';
import { saveResults } from './results';

const { values } = parseArgs({
	options: {
		rate: { type: 'string', default: '1000' },
		minutes: { type: 'string', default: '10' },
		work: { type: 'string', default: '2' },
		save: { type: 'boolean', default: false },
	},
});

const CAMPAIGN = fixtures.campaigns.active;
const PAGE_SIZE = 100;
const WORKERS = 2;

/** Two more readings after the last call, and what they start. */
const MAX_SETTLING_MS = 300_000;

/** Executions of one query. */
const CHUNK = 1_000;

const SETTINGS = {
	DB_POSTGRESDB_POOL_SIZE: '8',
	N8N_CONCURRENCY_PRODUCTION_LIMIT: '20',
	...EXPRESSION_ENGINE,
	...LONG_PING_TIMEOUT,
};

const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const counted = z.array(z.object({ all: z.number(), open: z.number() })).length(1);
const rows = z.array(z.object({ id: z.number(), status: z.string(), data: z.string() }));

/** When each call ended, in epoch milliseconds. */
type Ended = Map<string, number>;

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const home = await mkdtemp(join(tmpdir(), 'n8n-calls-reading-'));
	await installPackage(home);
	const { plain } = dialects;
	const paging = { ...plain.calls.paging, defaultSize: PAGE_SIZE };
	const dialect = { ...plain, calls: { ...plain.calls, paging } };
	const simulator = await startSimulator({ dialect, keepBodies: false, keepResponses: false });
	const queue = await QueueMode.start(
		{ host, home, env: SETTINGS },
		{ workers: WORKERS, webhooks: 0 },
	);
	try {
		const workflow = await publish(await N8nDriver.signIn(queue.main.baseUrl), simulator);
		const responsiveness = new Responsiveness(queue.main.baseUrl);
		responsiveness.begin('main');
		const pids: Pids = {
			main: [queue.main.pid],
			worker: queue.workers.map(({ pid }) => pid),
			postgres_redis: queue.stores.pids,
		};
		const cpuBefore = mapValues(pids, treeCpuMs);
		const ended = await endCalls(simulator);
		const sentAt = Date.now();
		await settled(queue.stores, workflow, ended.size);
		await responsiveness.end();
		const cpuMs = mapValues(pids, (all, kind) => treeCpuMs(all) - (cpuBefore[kind] ?? 0));
		const figures = {
			calls_per_minute: Number(values.rate),
			minutes: Number(values.minutes),
			seconds_per_execution: Number(values.work),
			workers: WORKERS,
			...evaluate(ended, queue.stores, workflow),
			settling_s: Math.round((Date.now() - sentAt) / 1_000),
			cpu_ms_per_call: mapValues(cpuMs, (ms) => Math.round((ms / ended.size) * 10) / 10),
			responses: responsiveness.figures,
			load: loadavg()[0],
		};
		console.dir(figures, { depth: 4 });
		if (figures.lost + figures.started_twice > 0) process.exitCode = 1;
		if (values.save)
			await saveResults('calls_reading', { n8n: n8nVersion, node: process.version, ...figures });
	} finally {
		await queue.stop();
		await simulator.stop();
		await rm(home, { recursive: true, force: true });
	}
}

/** Publishes the workflow, and waits for its first reading, which only remembers the calls. */
async function publish(n8n: N8nDriver, simulator: Simulator): Promise<Workflow> {
	const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
	const parameters = {
		campaignId: byId(CAMPAIGN),
		pollTimes: { item: [{ mode: 'everyMinute' }] },
	};
	const rest = { credentials: { [CREDENTIAL]: credential } };
	const trigger = node('Trigger', `${PACKAGE}.campaignCallsTrigger`, 1, parameters, rest);
	const after = node('After', 'n8n-nodes-base.noOp', 1);
	const work = waitNode(Number(values.work));
	const workflow = await n8n.createWorkflow(chain('reading', trigger, after, work));
	await n8n.activate(workflow);
	const isRead = async () => {
		const stored = await n8n.request('GET', `/workflows/${workflow.id}`);
		return JSON.stringify(stored).includes('"polled"');
	};
	await until('the first reading', isRead, { timeout: 120_000 });
	return workflow;
}

async function endCalls(simulator: Simulator): Promise<Ended> {
	const ended: Ended = new Map();
	const everyMs = 60_000 / Number(values.rate);
	const count = Number(values.rate) * Number(values.minutes);
	const startedAt = Date.now();
	for (let index = 0; index < count; index++) {
		const wait = startedAt + index * everyMs - Date.now();
		if (wait > 0) await sleep(wait);
		ended.set(simulator.addAttempt(CAMPAIGN, 'picked'), Date.now());
	}
	return ended;
}

async function settled(stores: QueueStores, { id }: Workflow, calls: number): Promise<void> {
	// The last call is found by the next poll, and a poll returns at most 1,000.
	await sleep(60_000 * (1 + Math.ceil(calls / 1_000 / Number(values.minutes))));
	const query = `select count(*)::int as all, count(*) filter (where status in ('new', 'running', 'waiting'))::int as open
		from execution_entity where "workflowId" = '${id}'`;
	const isSettled = () => counted.parse(stores.query(query))[0]?.open === 0;
	await until('the executions', async () => Promise.resolve(isSettled()), {
		timeout: MAX_SETTLING_MS,
		every: 1_000,
	}).catch(console.error);
	// Two more readings must start nothing.
	await sleep(130_000);
}

function evaluate(ended: Ended, stores: QueueStores, workflow: Workflow) {
	const starts = new Map<string, number[]>();
	let failed = 0;
	for (const { status, data } of executions(stores, workflow)) {
		const spans = status === 'success' ? spansIn(data) : [];
		const next = spans.find((span) => span.node === 'After');
		if (next === undefined) {
			failed++;
			continue;
		}
		const callIds = new Set([...data.matchAll(UUIDS)].map(([id]) => id));
		for (const callId of [...callIds].filter((id) => ended.has(id))) {
			starts.set(callId, [...(starts.get(callId) ?? []), next.from]);
		}
	}
	const latencies = [...starts].map(
		([callId, [from = Number.NaN]]) => from - (ended.get(callId) ?? 0),
	);
	return {
		ended: ended.size,
		started: starts.size,
		lost: ended.size - starts.size,
		started_twice: [...starts.values()].filter((times) => times.length > 1).length,
		failed,
		p50_ms: quantile(latencies, 0.5),
		p99_ms: quantile(latencies, 0.99),
		max_ms: quantile(latencies, 1),
	};
}

function* executions(stores: QueueStores, { id }: Workflow) {
	for (let last = 0; ; ) {
		const query = `select e.id, e.status, d.data from execution_entity e join execution_data d on d."executionId" = e.id
			where e."workflowId" = '${id}' and e.id > ${last} order by e.id limit ${CHUNK}`;
		const chunk = rows.parse(stores.query(query));
		yield* chunk;
		const newest = chunk.at(-1)?.id;
		if (newest === undefined) return;
		last = newest;
	}
}

runScript(main);
