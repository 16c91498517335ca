/**
 * `npm run long -- crash [--only sqlite --ending restart]`: ends executions in several ways, retries them, and counts the
 * requests at the service, for each node that writes, on one server and in queue mode. Needs PostgreSQL and Redis from Debian. Fails if
 * anything was sent twice, or a row was neither sent nor reported as unknown.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import groupBy from 'lodash/groupBy';
import sumBy from 'lodash/sumBy';
import { writeFormatted } from '../bench/report';
import { runScript } from '../../n8n/command';
import { installHost } from '../../n8n/host';
import { newHome, removeHome } from '../../n8n/package-install';
import { QueueMode } from '../../n8n/queueMode';
import { N8nServer } from '../../n8n/server';
import { ARRANGEMENTS } from './arrangements';
import { CrashBench, NO_RETRY, type Scene, type RetryResult } from './crashBench';
import { ITEMS, writers } from './writers';

const CONTINUE = { onError: 'continueRegularOutput' } as const;
const requesting = writers.filter(({ request }) => request !== undefined);
const { values } = parseArgs({
	options: { only: { type: 'string', default: '' }, ending: { type: 'string', default: '' } },
});

type Row = RetryResult & { deployment: string; ending: string; retriedWith: string };

/** An n8n deployment, and functions that end and start it. */
type Deployment = {
	name: string;
	bench: CrashBench;
	endings: { [ending: string]: () => Promise<void> };
	/** Starts n8n again after an ending. Not needed after Stop. */
	boot: () => Promise<void>;
	stop: () => Promise<void>;
};

const SETTINGS = {
	// Ends n8n although requests are in flight.
	N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '1',
};

async function onSqlite(host: string): Promise<Deployment> {
	const home = await newHome();
	const server = await N8nServer.start({ host, home, env: SETTINGS });
	const bench = await CrashBench.start(server);
	return {
		name: 'SQLite',
		bench,
		endings: {
			'kill -9': async () => await server.kill(),
			restart: async () => await server.stop(),
		},
		boot: async () => await bench.boot(),
		stop: async () => {
			await bench.simulator.stop();
			await server.stop();
			await removeHome(home);
		},
	};
}

async function onQueue(host: string): Promise<Deployment> {
	const home = await newHome();
	const env = {
		...SETTINGS,
		QUEUE_WORKER_LOCK_DURATION: '5000',
		QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
		QUEUE_WORKER_STALLED_INTERVAL: '3000',
		DB_POSTGRESDB_POOL_SIZE: '8',
		// By default, a worker runs 10 executions at a time, but each scene needs an execution that hangs.
		N8N_CONCURRENCY_PRODUCTION_LIMIT: '40',
	};
	const queue = await QueueMode.start({ host, home, env }, { workers: 1, webhooks: 0 });
	const bench = await CrashBench.start(queue.main);
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
			await bench.simulator.stop();
			await queue.stop();
			await removeHome(home);
		},
	};
}

/** Scenes for one ending: each writer interrupted in the middle, some in other arrangements, and all interrupted after they finished. */
async function interrupt(
	{ bench, endings, boot }: Deployment,
	ending: string,
	settings: Record<string, unknown>,
): Promise<{ middle: Scene[]; after: Scene[] }> {
	const middle: Scene[] = [];
	const isStop = ending === 'Stop';
	const stop = async ({ execution }: Scene) =>
		await bench.n8n.request('POST', `/executions/${execution.id}/stop`);
	for (const writer of requesting) {
		const scene = await bench.hangInWriter(writer, CONTINUE, 'straight', settings);
		middle.push(scene);
		if (isStop) await stop(scene);
	}
	for (const arrangement of ARRANGEMENTS.slice(1)) {
		for (const writer of requesting.slice(0, 2)) {
			const scene = await bench.hangInWriter(writer, CONTINUE, arrangement, settings);
			middle.push(scene);
			if (isStop) await stop(scene);
		}
	}
	const after = await bench.hangAfterWriters(writers, CONTINUE, settings);
	const [first] = after;
	if (isStop && first !== undefined) await stop(first);
	else await endings[ending]?.();
	if (!isStop) await boot();
	return { middle, after };
}

/** A way to end executions, and the workflow settings. */
type Case = { name: string; ending: string; settings: Record<string, unknown> };

function casesOf({ endings }: Deployment): Case[] {
	const [first = '', ...others] = Object.keys(endings);
	const settings = { saveExecutionProgress: true };
	return [
		...[first, ...others, 'Stop'].map((ending) => ({ name: ending, ending, settings: {} })),
		{ name: `${first}, Save execution progress`, ending: first, settings },
	];
}

async function retryCase(deployment: Deployment, { name, ending, settings }: Case): Promise<Row[]> {
	const rows: Row[] = [];
	const { middle, after } = await interrupt(deployment, ending, settings);
	for (const which of ['original', 'current'] as const) {
		const of = {
			deployment: deployment.name,
			ending: name,
			retriedWith: `Retry, ${which} workflow`,
		};
		for (const scene of middle) {
			const verdict = await deployment.bench.retryScene(scene, which);
			rows.push({ ...of, ...verdict });
		}
		rows.push(
			...(await deployment.bench.retryScenes(after, which)).map((row) => ({ ...of, ...row })),
		);
	}
	return rows;
}

const HARMLESS = new Set(
	writers.filter(({ isHarmlessTwice }) => isHarmlessTwice).map(({ name }) => name),
);

/**
 * Whether nothing was sent twice, except what does no harm twice, and nothing is missing unless the retry couldn't start or
 * reports it.
 */
function isCorrect({ writer, after, output }: Row): boolean {
	if (/[2-9]/.test(after) && !HARMLESS.has(writer)) return false;
	if (output === NO_RETRY) return true;
	const missing = after.match(/0/g)?.length ?? 0;
	return (output.match(/[un]/g) ?? []).length >= missing;
}

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const rows: Row[] = [];
	for (const startDeployment of [onSqlite, onQueue]) {
		if (values.only !== '' && !startDeployment.name.toLowerCase().includes(values.only)) continue;
		const deployment = await startDeployment(host);
		try {
			for (const each of casesOf(deployment).filter(({ name }) => name.includes(values.ending))) {
				const startedAt = Date.now();
				rows.push(...(await retryCase(deployment, each)));
				const seconds = Math.round((Date.now() - startedAt) / 1_000);
				console.log(`${deployment.name}: ${each.name}, ${seconds} s`);
			}
		} finally {
			await deployment.stop();
		}
	}
	await report(rows);
	const wrong = rows.filter((row) => !isCorrect(row));
	console.log(`${rows.length} cells, ${wrong.length} wrong`);
	for (const row of wrong) console.log(row);
	if (wrong.length > 0) process.exitCode = 1;
}

async function report(rows: readonly Row[]): Promise<void> {
	const once = rows.filter(({ writer }) => !HARMLESS.has(writer));
	const groups = groupBy(once, ({ deployment, ending }) => `${deployment} | ${ending}`);
	const lines = Object.entries(groups).map(([name, those]) => {
		const items = (times: RegExp) => sumBy(those, ({ after }) => after.match(times)?.length ?? 0);
		const retried = those.filter(({ output }) => output !== NO_RETRY).length;
		return `| ${[name, those.length, retried, items(/1/g), items(/0/g), items(/[2-9]/g)].join(' | ')} |`;
	});
	const text = `# Interrupted executions

What \`npm run long -- crash\` counted at the service. Each node that writes is interrupted, in the middle of its ${ITEMS} items or after them, and retried with the original and with the current workflow. A cell is a node and a retry: ${once.length} in all, without those of requests that do no harm twice, which a retry sends again. If n8n has stored no data of the execution, it can't retry it. Otherwise, each item that was never sent was reported as unknown or as not sent.

| n8n | how the execution ended | cells | retried | items sent once | not sent | sent twice |
| - | - | - | - | - | - | - |
${lines.join('\n')}
`;
	await writeFormatted(join(__dirname, 'results.md'), text);
}

runScript(main);
