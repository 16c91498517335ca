/**
 * `npm run long -- mixed [--minutes 5]`: half an hour of mixed work on one n8n with SQLite. Measures the resources of n8n
 * every 10 s, fails if they grow from one idle phase to the next, and writes test/soak/results.json.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import groupBy from 'lodash/groupBy';
import mapValues from 'lodash/mapValues';
import sumBy from 'lodash/sumBy';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { runScript } from '../n8n/command';
import { N8nDriver } from '../n8n/driver';
import { installHost, n8nVersion } from '../n8n/host';
import { newHome, removeHome } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { N8nServer } from '../n8n/server';
import { querySqlite } from '../n8n/sqlite';
import { until } from '../n8n/until';
import { dialects, startSimulator } from '../simulator';
import { MixedLoad } from './mixedLoad';
import { saveResults } from './results';
import { afterWarmUp, trendOf, type Trend } from './trend';
import { VitalsReader, MEASURES, type Measure, type Vitals } from './vitals';

const SAMPLE_MS = 10_000;

/** Makes n8n delete all but the newest 300 executions every minute, so that the database doesn't grow. */
const PRUNING = {
	EXECUTIONS_DATA_PRUNE_MAX_COUNT: '300',
	EXECUTIONS_DATA_PRUNE_SOFT_DELETE_INTERVAL: '1',
	EXECUTIONS_DATA_PRUNE_HARD_DELETE_INTERVAL: '1',
	EXECUTIONS_DATA_HARD_DELETE_BUFFER: '0',
};

/**
 * The allowed growth for a number of executions. An execution that leaks its data or sandbox leaks at least 10 kB. The
 * triggers keep the keys of the last 20,000 events, 0.2 kB each. One leaked socket, file, timer, or thread per 100
 * executions is a leak, but a few come and go with the current work.
 */
const ALLOWED: Record<Measure, (executions: number) => number> = {
	heap_mb: (executions) => 3 + (2 * executions) / 1_024,
	rss_mb: (executions) => 20 + (5 * executions) / 1_024,
	sockets: (executions) => 3 + executions / 500,
	fds: (executions) => 3 + executions / 500,
	timers: (executions) => 3 + executions / 500,
	threads: () => 2,
	// n8n keeps the data of its Insights page for more than a day.
	database_mb: (executions) => 2 + (0.3 * executions) / 1_024,
};

type Sample = Vitals & { at: number; calm: boolean };

async function sampled(examiner: VitalsReader, load: MixedLoad, end: number): Promise<Sample[]> {
	const started = Date.now();
	const samples: Sample[] = [];
	while (Date.now() < end) {
		const next = Date.now() + SAMPLE_MS;
		const calm = load.isCalm;
		const vitals = mapValues(await examiner.read(), rounded);
		const sample = { at: (Date.now() - started) / 1_000, calm, ...vitals };
		samples.push(sample);
		if (calm) load.work();
		console.log(JSON.stringify(sample));
		await sleep(Math.max(0, next - Date.now()));
	}
	return samples;
}

function trendsOf(samples: readonly Sample[], executions: number): Record<string, Trend> {
	const after = afterWarmUp(samples.map((sample) => ({ at: sample.at, value: sample })));
	const counted = (executions * 2) / 3;
	return Object.fromEntries(
		MEASURES.map((name) => {
			const points = after.map(({ at, value }) => ({ at, value: value[name] }));
			return [name, trendOf(points, ALLOWED[name](counted))];
		}),
	);
}

const counted = z.array(z.object({ workflow: z.string(), name: z.string(), count: z.number() }));

/** n8n's own counts of executions by workflow and result, including deleted executions. */
function executionsOf({ home }: N8nServer): z.infer<typeof counted> {
	const query = `select w.name as workflow, s.name as name, s.count as count from workflow_statistics s
		join workflow_entity w on w.id = s.workflowId where s.name like 'production_%' order by w.name`;
	return counted.parse(querySqlite(home, query));
}

const rounded = (value: number) => Math.round(value * 100) / 100;

async function main(): Promise<void> {
	const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
	const minutes = Number(values.minutes);
	const host = await installHost(console.log);
	const home = await newHome();
	const simulator = await startSimulator({ dialect: dialects.plain, keepBodies: false });
	const inspector = await freePort();
	const env = { ...PRUNING, NODE_OPTIONS: `--inspect=127.0.0.1:${inspector}` };
	const server = await N8nServer.start({ host, home, env });
	try {
		const n8n = await N8nDriver.signIn(server.baseUrl);
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
		const load = await MixedLoad.start(n8n, simulator, { [CREDENTIAL]: credential });
		const examiner = await VitalsReader.of(server, inspector);
		const end = Date.now() + minutes * 60_000;
		const [samples] = await Promise.all([sampled(examiner, load, end), load.run(end)]);
		examiner.close();
		const executions = await settled(server);
		const total = sumBy(executions, 'count');
		const calm = samples.filter(({ calm: isCalm }) => isCalm);
		if (calm.length < minutes / 3) throw new Error(`n8n was idle only ${calm.length} times`);
		const trends = trendsOf(calm, total);
		console.table(
			mapValues(trends, (trend) => ({
				...trend,
				growth: rounded(trend.growth),
				allowed: rounded(trend.allowed),
			})),
		);
		console.table(load.tallies);
		console.table(executions);
		const failures = Object.values(load.tallies).reduce((sum, { failed }) => sum + failed, 0);
		const errors = executions.filter(({ name }) => name !== 'production_success');
		const notOnce = Object.entries(groupBy(executions, 'workflow')).filter(
			([work, counts]) => sumBy(counts, 'count') !== load.done(work),
		);
		const growing = Object.entries(trends).filter(([, { isFlat }]) => !isFlat);
		console.log({ growing: growing.map(([name]) => name), notOnce, rejected: load.rejected });
		// If n8n is too busy for a delivery, a node's check whether n8n is reachable may fail, too.
		const unexplained = sumBy(errors, 'count') > load.rejected;
		if (growing.length + notOnce.length + failures > 0 || unexplained) process.exitCode = 1;
		const { tallies: work, rejected } = load;
		const result = {
			minutes,
			n8n: n8nVersion,
			node: process.version,
			executions,
			work,
			rejected,
			trends,
			samples,
		};
		await saveResults('mixed', result);
	} finally {
		await server.stop();
		await simulator.stop();
		await removeHome(home);
	}
}

/** The counts after they haven't changed for a while. */
async function settled(server: N8nServer): Promise<z.infer<typeof counted>> {
	let last = '';
	await until(
		'n8n to finish',
		async () => {
			const now = JSON.stringify(executionsOf(server));
			const hasEnded = now === last;
			last = now;
			return Promise.resolve(hasEnded);
		},
		{ every: 5_000, timeout: 120_000 },
	);
	return executionsOf(server);
}

runScript(main);
