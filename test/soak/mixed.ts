/**
 * `npm run long -- mixed [--minutes 5]`: half an hour of rounds of mixed work on one n8n with SQLite. Measures the
 * resources of n8n when it's idle after each round. Fails if they grow, or if an execution fails.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { PACKAGE } from '../e2e/calls';
import { runScript } from '../n8n/command';
import { N8nDriver, type Reference } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { databaseMb, memoryMb } from '../n8n/footprint';
import { Inspector } from '../n8n/inspector';
import { newHome, removeHome } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { N8nServer } from '../n8n/server';
import { querySqlite } from '../n8n/sqlite';
import { until } from '../n8n/until';
import { chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { QueueLoad } from './queueLoad';
import { afterWarmUp, trendOf } from './trend';

const EXECUTIONS_PER_ROUND = 60;
const EVERY_MS = 250;
const IDLE_MS = 8_000;
const MAX_SETTLING_MS = 300_000;

/** Makes n8n delete all but the newest 300 executions every minute, so that the database doesn't grow. */
const PRUNING = {
	EXECUTIONS_DATA_PRUNE_MAX_COUNT: '300',
	EXECUTIONS_DATA_PRUNE_SOFT_DELETE_INTERVAL: '1',
	EXECUTIONS_DATA_PRUNE_HARD_DELETE_INTERVAL: '1',
	EXECUTIONS_DATA_HARD_DELETE_BUFFER: '0',
};

/** The heap is measured after a garbage collection. Files include sockets. */
const MEASURES = ['heap_mb', 'rss_mb', 'files', 'timers', 'database_mb'] as const;

type Vitals = Record<(typeof MEASURES)[number], number>;

/**
 * The allowed growth for a number of executions. An execution that leaks its data or sandbox leaks at least 10 kB. The
 * triggers keep the keys of the latest 5,000 events, 0.2 kB each. One leaked file or timer per 100 executions is a leak,
 * but a few come and go with the current work.
 */
const ALLOWED: Record<keyof Vitals, (executions: number) => number> = {
	heap_mb: (executions) => 3 + (2 * executions) / 1_024,
	rss_mb: (executions) => 20 + (5 * executions) / 1_024,
	files: (executions) => 3 + executions / 500,
	timers: (executions) => 3 + executions / 500,
	// n8n keeps the data of its Insights page for more than a day.
	database_mb: (executions) => 2 + (0.3 * executions) / 1_024,
};

type Sample = { at: number; value: Vitals };

const counted = z.array(z.object({ count: z.number() })).length(1);

async function main(): Promise<void> {
	const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
	const host = await installHost(console.log);
	const home = await newHome();
	const simulator = await startSimulator({ dialect: dialects.plain, keepBodies: false });
	const port = await freePort();
	const env = { ...PRUNING, NODE_OPTIONS: `--inspect=127.0.0.1:${port}` };
	const server = await N8nServer.start({ host, home, env });
	try {
		const inspector = await Inspector.attach(port);
		const n8n = await N8nDriver.signIn(server.baseUrl);
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
		const credentials = { [CREDENTIAL]: credential };
		const load = new QueueLoad(simulator, credentials, [server.baseUrl]);
		await load.start(n8n);
		const otherWork = await publishOtherWork(n8n, simulator, credentials);
		const startedAt = Date.now();
		const samples: Sample[] = [];
		while (Date.now() < startedAt + Number(values.minutes) * 60_000) {
			await runRound(load, otherWork, server);
			requireSuccess(server);
			await sleep(IDLE_MS);
			const value = await readVitals(server, inspector);
			samples.push({ at: (Date.now() - startedAt) / 1_000, value });
			console.log(JSON.stringify(samples.at(-1)));
		}
		inspector.detach();
		if (hasGrown(samples, countOf(server, 'max(id)'))) process.exitCode = 1;
	} finally {
		await server.stop();
		await simulator.stop();
		await removeHome(home);
	}
}

/** Nodes that `QueueLoad` doesn't use. Returns a function that runs them. */
async function publishOtherWork(
	n8n: N8nDriver,
	simulator: Simulator,
	credentials: Record<string, Reference>,
): Promise<() => Promise<unknown>> {
	const path = randomUUID();
	const { sessionId } = simulator.sessions.create();
	const ours = (name: string, type: string, parameters: INodeParameters) =>
		node(name, `${PACKAGE}.${type}`, 1, parameters, { credentials });
	const number = {
		agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
		phone: '9000000001',
	};
	const workflow = chain(
		'other',
		webhook(path),
		ours('Send', 'chatSend', {
			operation: 'sendMessage',
			sendBy: 'socket',
			sessionId,
			message: 'Hello',
		}),
		ours('Many', 'getCall', { operation: 'getMany', limit: 20 }),
		{ ...ours('Add', 'dnd', { operation: 'add', ...number }), executeOnce: true },
		ours('Remove', 'dnd', { operation: 'remove', ...number }),
	);
	await n8n.activate(await n8n.createWorkflow(workflow));
	return async () => await n8n.webhook(path);
}

/** Resolves when all executions have ended. */
async function runRound(
	load: QueueLoad,
	otherWork: () => Promise<unknown>,
	server: N8nServer,
): Promise<void> {
	const ended = async () => {
		const isIdle = () => countOf(server, 'count(*)', OPEN) === 0;
		const limits = { timeout: MAX_SETTLING_MS, every: 1_000 };
		await until('the executions to end', () => isIdle(), limits);
	};
	let isOver = false;
	const serving = load.serveUntil(() => isOver);
	await load.startExecutions(EXECUTIONS_PER_ROUND, async () => {
		await otherWork();
		await sleep(EVERY_MS);
	});
	await ended();
	isOver = true;
	await serving;
	await ended();
}

const OPEN = `where status in ('new', 'running', 'waiting')`;

function countOf({ home }: N8nServer, what: string, where = ''): number {
	const query = `select ${what} as count from execution_entity ${where}`;
	return counted.parse(querySqlite(home, query))[0]?.count ?? Number.NaN;
}

function requireSuccess(server: N8nServer): void {
	const failed = countOf(server, 'count(*)', `where status <> 'success'`);
	if (failed > 0) throw new Error(`${failed} executions failed`);
}

/** Prints the trend of each measure, and returns whether one grows more than allowed. */
function hasGrown(samples: readonly Sample[], executions: number): boolean {
	const trends = MEASURES.map((measure) => {
		const points = samples.map(({ at, value }) => ({ at, value: value[measure] }));
		const allowed = ALLOWED[measure]((executions * 2) / 3);
		return { measure, ...trendOf(afterWarmUp(points), allowed) };
	});
	console.table(trends);
	console.log({ executions });
	return trends.some(({ isFlat }) => !isFlat);
}

const TIMERS = `process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length`;

async function readVitals({ pid, home }: N8nServer, inspector: Inspector): Promise<Vitals> {
	return {
		heap_mb: (await inspector.liveBytes()) / 1_048_576,
		rss_mb: memoryMb(pid, 'VmRSS'),
		files: readdirSync(`/proc/${pid}/fd`).length,
		timers: z.number().parse(await inspector.evaluate(TIMERS)),
		database_mb: databaseMb(home),
	};
}

runScript(main);
