/**
 * `npm run test:crash [-- --only sqlite --ending memory]`: who writes × how the execution ended × how it was taken up again × database, each counted at
 * the service. Needs Debian's PostgreSQL and Redis. Fails where anything was sent twice, or a row was neither sent nor
 * told as unknown.
 */
import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import groupBy from 'lodash/groupBy';
import omit from 'lodash/omit';
import { format } from 'prettier';
import { installHost } from '../n8n/host';
import { installPackage } from '../n8n/package-install';
import { QueueMode } from '../n8n/queueMode';
import { QueueStores } from '../n8n/queueStores';
import { N8nServer } from '../n8n/server';
import { manualTrigger, node } from '../n8n/workflow';
import { dialects, startSimulator } from '../simulator';
import { ARRANGEMENTS } from './arrangements';
import { CrashBench, NO_RETRY, type Scene, type Verdict } from './crashBench';
import { writers } from './writers';

const CONTINUE = { onError: 'continueRegularOutput' } as const;
const requesting = writers.filter(({ request }) => request !== undefined);
const { values } = parseArgs({
	options: { only: { type: 'string', default: '' }, ending: { type: 'string', default: '' } },
});

type Row = Verdict & { place: string; ending: string; takenUp: string };

/** What runs the executions, and how it is brought down and up again. */
type Place = {
	name: string;
	bench: CrashBench;
	endings: { [ending: string]: () => Promise<void> };
	/** After an ending; a stopped execution needs nothing. */
	boot: () => Promise<void>;
	stop: () => Promise<void>;
};

const SETTINGS = {
	// Calls that are under way when n8n is told to end.
	N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '1',
};

/** Lets n8n read a response whose objects don't fit into its heap. */
async function runOutOfMemory(bench: CrashBench, server: N8nServer): Promise<void> {
	const many = Buffer.from(`[${'{"a":1},'.repeat(12_000_000)}{}]`);
	const hog = createServer((_request, response) => {
		response.setHeader('content-type', 'application/json');
		response.end(many);
	});
	await new Promise<void>((resolve) => hog.listen(0, '127.0.0.1', resolve));
	const address: AddressInfo | string | null = hog.address();
	const port = address !== null && typeof address !== 'string' ? address.port : 0;
	const get = node('Get', 'n8n-nodes-base.httpRequest', 4.2, { url: `http://127.0.0.1:${port}/` });
	const start = manualTrigger();
	const workflow = await bench.n8n.createWorkflow({
		name: 'too much',
		nodes: [start, get],
		connections: { [start.name]: { main: [[{ node: get.name, type: 'main', index: 0 }]] } },
	});
	await bench.n8n.startManually(workflow, start.name);
	await server.ended();
	hog.closeAllConnections();
	await new Promise((resolve) => hog.close(resolve));
}

async function onOneServer(
	name: string,
	host: string,
	env: Record<string, string>,
	cleanUp: () => Promise<void>,
	home: string,
): Promise<Place> {
	await installPackage(home);
	const heap = { NODE_OPTIONS: '--max-old-space-size=512' };
	const server = await N8nServer.start({ host, home, env: { ...SETTINGS, ...heap, ...env } });
	const simulator = await startSimulator({ dialect: dialects.plain });
	const bench = await CrashBench.start(server, simulator);
	return {
		name,
		bench,
		endings: {
			'kill -9': async () => await server.kill(),
			restart: async () => await server.stop(),
			'out of memory': async () => await runOutOfMemory(bench, server),
		},
		boot: async () => await bench.boot(),
		stop: async () => {
			await simulator.stop();
			await server.stop();
			await cleanUp();
			await rm(home, { recursive: true, force: true });
		},
	};
}

async function onSqlite(host: string): Promise<Place> {
	const home = await mkdtemp(join(tmpdir(), 'n8n-crash-'));
	return await onOneServer('SQLite', host, {}, async () => await Promise.resolve(), home);
}

async function onPostgres(host: string): Promise<Place> {
	const home = await mkdtemp(join(tmpdir(), 'n8n-crash-'));
	const stores = await QueueStores.start(home);
	const env = { ...stores.environment, EXECUTIONS_MODE: 'regular' };
	return await onOneServer('PostgreSQL', host, env, async () => await stores.stop(), home);
}

async function onQueue(host: string): Promise<Place> {
	const home = await mkdtemp(join(tmpdir(), 'n8n-crash-'));
	await installPackage(home);
	const env = {
		...SETTINGS,
		QUEUE_WORKER_LOCK_DURATION: '5000',
		QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
		QUEUE_WORKER_STALLED_INTERVAL: '3000',
		DB_POSTGRESDB_POOL_SIZE: '8',
		// A worker runs 10 executions at a time otherwise, and each of the scenes hangs in one.
		N8N_CONCURRENCY_PRODUCTION_LIMIT: '40',
	};
	const queue = await QueueMode.start({ host, home, env }, { workers: 1, webhooks: 0 });
	const simulator = await startSimulator({ dialect: dialects.plain });
	const bench = await CrashBench.start(queue.main, simulator);
	const [worker] = queue.workers;
	if (worker === undefined) throw new Error('no worker');
	return {
		name: 'queue mode, PostgreSQL',
		bench,
		endings: {
			'kill -9 of the worker': async () => await worker.kill(),
			'restart of the worker': async () => await worker.stop(),
			'kill -9 of all processes': async () => {
				await worker.kill();
				await queue.main.kill();
			},
		},
		boot: async () => {
			if (!queue.main.running) await bench.boot();
			await worker.boot();
		},
		stop: async () => {
			await simulator.stop();
			await queue.stop();
			await rm(home, { recursive: true, force: true });
		},
	};
}

/** The scenes of one ending: each writer in the middle, some in other arrangements, and all of them afterwards. */
async function interrupt(
	{ bench, endings, boot }: Place,
	ending: string,
	settings: Record<string, unknown>,
): Promise<{ middle: Scene[]; after: Scene[] }> {
	const middle: Scene[] = [];
	const isStop = ending === 'Stop';
	const stop = async ({ execution }: Scene) =>
		await bench.n8n.request('POST', `/executions/${execution.id}/stop`);
	for (const writer of requesting) {
		const scene = await bench.inTheMiddle(writer, CONTINUE, 'straight', settings);
		middle.push(scene);
		if (isStop) await stop(scene);
	}
	for (const arrangement of ARRANGEMENTS.slice(1)) {
		for (const writer of requesting.slice(0, 2)) {
			const scene = await bench.inTheMiddle(writer, CONTINUE, arrangement, settings);
			middle.push(scene);
			if (isStop) await stop(scene);
		}
	}
	const after = await bench.afterwards(writers, CONTINUE, settings);
	const [first] = after;
	if (isStop && first !== undefined) await stop(first);
	else await endings[ending]?.();
	if (!isStop) await boot();
	return { middle, after };
}

/** A way to end executions of workflows with these settings. */
type Case = { name: string; ending: string; settings: Record<string, unknown> };

function casesOf({ endings }: Place): Case[] {
	const [first = '', ...others] = Object.keys(endings);
	const settings = { saveExecutionProgress: true };
	return [
		...[first, ...others, 'Stop'].map((ending) => ({ name: ending, ending, settings: {} })),
		{ name: `${first}, Save execution progress`, ending: first, settings },
	];
}

async function judge(place: Place, { name, ending, settings }: Case): Promise<Row[]> {
	const rows: Row[] = [];
	const { middle, after } = await interrupt(place, ending, settings);
	for (const which of ['original', 'current'] as const) {
		const of = { place: place.name, ending: name, takenUp: `Retry, ${which} workflow` };
		for (const scene of middle) {
			const verdict = await place.bench.retried(scene, which);
			rows.push({ ...of, ...verdict });
		}
		rows.push(
			...(await place.bench.retriedTogether(after, which)).map((row) => ({ ...of, ...row })),
		);
	}
	return rows;
}

/** Nothing twice; and nothing missing unless the retry couldn't begin, or tells of it. */
function isRight({ after, output }: Row): boolean {
	if (/[2-9]/.test(after)) return false;
	if (output === NO_RETRY) return true;
	const missing = after.replaceAll('1', '').length;
	return (output.match(/[un]/g) ?? []).length >= missing;
}

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const rows: Row[] = [];
	for (const open of [onSqlite, onPostgres, onQueue]) {
		if (values.only !== '' && !open.name.toLowerCase().includes(values.only)) continue;
		const place = await open(host);
		try {
			for (const each of casesOf(place).filter(({ name }) => name.includes(values.ending))) {
				const began = Date.now();
				rows.push(...(await judge(place, each)));
				console.log(`${place.name}: ${each.name}, ${Math.round((Date.now() - began) / 1_000)} s`);
			}
		} finally {
			await place.stop();
		}
	}
	await report(rows);
	const wrong = rows.filter((row) => !isRight(row));
	console.log(`${rows.length} cells, ${wrong.length} wrong`);
	for (const row of wrong) console.log(row);
	if (wrong.length > 0) process.exitCode = 1;
}

async function report(rows: readonly Row[]): Promise<void> {
	const alike = groupBy(rows, (row) => JSON.stringify(omit(row, 'writer')));
	const cells = Object.values(alike).flatMap(([first, ...others]) => {
		if (first === undefined) return [];
		const { place, ending, takenUp, before, after, output } = first;
		const writers = [first, ...others].map(({ writer }) => writer).join('; ');
		return [[place, ending, takenUp, writers, `\`${before}\``, `\`${after}\``, `\`${output}\``]];
	});
	const text = `# Executions that n8n did not end itself

What \`npm run test:crash\` counted at the service: how often it received the request of each of eight items, before the execution ended and after it
was retried; ${rows.length} cells in all. The last column has the items that the node returned in the retry: \`d\` done, \`u\` told as unknown, \`n\` told as not sent.

| n8n | how the execution ended | taken up by | who writes | before | after | the retry |
| - | - | - | - | - | - | - |
${cells.map((cell) => `| ${cell.join(' | ')} |`).join('\n')}
`;
	await writeFile(join(__dirname, 'results.md'), await format(text, { parser: 'markdown' }));
}

void main();
