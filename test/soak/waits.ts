/**
 * `npm run long -- waits [--waits 5000 --completed 500 --limited 50 --rest 120 --how webhook]`: executions of Place Call
 * that wait, each for its own call, in one n8n with PostgreSQL (Debian's). After a rest, some calls are completed within a
 * minute, and some waits reach their time limit. Prints how fast n8n responds in between, its memory, and the requests that
 * reach the service. Fails if an execution didn't resume, resumed twice, or resumed without reason, or if a person was
 * called twice. `--save <name>` stores the figures in results.json.
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import countBy from 'lodash/countBy';
import { credentialFor } from '../e2e/calls';
import { runScript } from '../n8n/command';
import { N8nDriver } from '../n8n/driver';
import { installHost, n8nVersion } from '../n8n/host';
import { atPace } from '../n8n/pace';
import { newHome, removeHome } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { Postgres } from '../n8n/postgres';
import { EXPRESSION_ENGINE, LONG_PING_TIMEOUT, N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { treeCpuMs } from './processCpu';
import { Responsiveness } from './responsiveness';
import { saveResults } from './results';
import { VitalsReader } from './vitals';
import { WaitingWorkflow, type Ended } from './waitsLoad';

const { values } = parseArgs({
	options: {
		waits: { type: 'string', default: '5000' },
		completed: { type: 'string', default: '500' },
		limited: { type: 'string', default: '50' },
		rest: { type: 'string', default: '120' },
		how: { type: 'string', default: 'webhook' },
		save: { type: 'string' },
	},
});

const WAITS = Number(values.waits);
const COMPLETED = Number(values.completed);
const LIMITED = Number(values.limited);
const HOW = values.how === 'reading' ? 'reading' : 'webhook';

/** Executions before the memory is measured for the first time. */
const FIRST = 20;

/** More than the test takes. */
const LIMIT_MINUTES = 240;
const SHORT_LIMIT_MINUTES = 2;

const REST_MS = Number(values.rest) * 1_000;
const COMPLETION_MS = 60_000;
const MAX_SETTLING_MS = 300_000;
const SERVICE_LATENCY_MS = 20;

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const home = await newHome();
	const database = await Postgres.start(home);
	const inspector = await freePort();
	const simulator = await startSimulator({
		dialect: dialects.plain,
		keepBodies: false,
		latencyMs: SERVICE_LATENCY_MS,
	});
	const env = {
		...database.environment,
		...EXPRESSION_ENGINE,
		...LONG_PING_TIMEOUT,
		DB_POSTGRESDB_POOL_SIZE: '8',
		NODE_OPTIONS: `--inspect=127.0.0.1:${inspector}`,
	};
	const server = await N8nServer.start({ host, home, env });
	try {
		const vitals = await VitalsReader.of(server, inspector);
		const result = await run({ server, database, simulator, vitals });
		vitals.close();
		console.dir(result, { depth: 5 });
		if (result.wrong.length > 0) process.exitCode = 1;
		const versions = { n8n: n8nVersion, node: process.version };
		if (values.save !== undefined) await saveResults(values.save, { ...versions, ...result });
	} finally {
		await server.stop();
		await database.stop();
		await simulator.stop();
		await removeHome(home);
	}
}

type Stage = {
	server: N8nServer;
	database: Postgres;
	simulator: Simulator;
	vitals: VitalsReader;
};

async function run({ server, database, simulator, vitals }: Stage) {
	const n8n = await N8nDriver.signIn(server.baseUrl);
	const credentials = await credentialFor(n8n, simulator);
	const publish = async (limitMinutes: number) =>
		await WaitingWorkflow.publish(n8n, server, database, credentials, { how: HOW, limitMinutes });
	const long = await publish(LIMIT_MINUTES);
	const short = await publish(SHORT_LIMIT_MINUTES);
	const placed = () => simulator.placedCalls().length;
	const responsiveness = new Responsiveness(server.baseUrl);
	const phases = new Phases(server, simulator, vitals, responsiveness);
	// n8n loads the nodes with the first execution.
	await phases.run('first', async () => await long.start(0, FIRST, placed));
	await phases.run('placing', async () => {
		await long.start(FIRST, WAITS - LIMITED - FIRST, placed);
	});
	const calls = simulator.placedCalls().map(({ callId }) => callId);
	const completed = calls.filter((_, index) => index % Math.floor(calls.length / COMPLETED) === 0);
	const chosen = completed.slice(0, COMPLETED);
	await phases.run('waiting', async () => await sleep(REST_MS));
	await phases.run('completing', async () => {
		await short.start(WAITS - LIMITED, LIMITED, placed);
		await complete(simulator, chosen);
		await untilEnded(long, COMPLETED);
	});
	await phases.run('time limit', async () => await untilEnded(short, LIMITED));
	await responsiveness.end();
	const ended = { long: long.ended(), short: short.ended() };
	return {
		waits: WAITS,
		how: HOW,
		load: loadavg()[0],
		phases: phases.figures,
		responses: responsiveness.figures,
		statuses: { long: long.statuses(), short: short.statuses() },
		resumed_once: ended.long.filter(({ runs }) => runs === 1).length,
		ended_at_the_limit: ended.short.filter(({ timedOut }) => timedOut).length,
		wrong: faultsIn(ended, chosen, simulator),
	};
}

/** Completes the calls at a steady pace within a minute. */
async function complete(simulator: Simulator, calls: readonly string[]): Promise<void> {
	await atPace(calls.length, COMPLETION_MS / calls.length, async (index) => {
		await simulator.completeCall(calls[index] ?? '');
	});
}

/** Waits until this number of executions has ended. The verdict names those that haven't. */
async function untilEnded(workflow: WaitingWorkflow, count: number): Promise<void> {
	const hasEnded = () => (workflow.statuses().success ?? 0) >= count;
	await until(`${count} executions to end`, async () => Promise.resolve(hasEnded()), {
		timeout: MAX_SETTLING_MS,
		every: 1_000,
	}).catch(console.error);
}

/** What isn't as it must be, in words. */
function faultsIn(
	{ long, short }: { long: Ended[]; short: Ended[] },
	completed: readonly string[],
	simulator: Simulator,
): string[] {
	const times = countBy(long, ({ callId }) => callId);
	const people = countBy(simulator.placedCalls(), ({ phone }) => phone);
	const shouldEnd = new Set(completed);
	return [
		...completed
			.filter((callId) => times[callId] === undefined)
			.map((callId) => `${callId} is completed, but its execution still waits`),
		...long
			.filter(({ callId }) => !shouldEnd.has(callId))
			.map(({ callId, status }) => `${callId} isn't completed, but its execution ended: ${status}`),
		...[...long, ...short]
			.filter(({ runs, status }) => runs !== 1 || status !== 'success')
			.map(({ callId, runs, status }) => `${callId}: ${status}, the next node ran ${runs} times`),
		...short
			.filter(({ timedOut }) => !timedOut)
			.map(({ callId }) => `${callId} ended before its time limit`),
		...(short.length === LIMITED
			? []
			: [`${LIMITED - short.length} waits didn't reach their limit`]),
		...Object.entries(people)
			.filter(([, count]) => count > 1)
			.map(([phone, count]) => `${phone} was called ${count} times`),
	];
}

/** Measures the parts of the test. */
class Phases {
	readonly figures: Record<string, object> = {};

	constructor(
		private readonly server: N8nServer,
		private readonly simulator: Simulator,
		private readonly vitals: VitalsReader,
		private readonly responsiveness: Responsiveness,
	) {}

	async run(phase: string, act: () => Promise<void>): Promise<void> {
		const { server, simulator } = this;
		const startedAt = Date.now();
		const [requests, cpuMs] = [simulator.requests.length, treeCpuMs([server.pid])];
		this.responsiveness.begin(phase);
		await act();
		const seconds = (Date.now() - startedAt) / 1_000;
		const cpu = treeCpuMs([server.pid]) - cpuMs;
		const received = simulator.requests.slice(requests);
		// Without the pause of the garbage collection.
		this.responsiveness.begin(`after ${phase}`);
		const { rss_mb, heap_mb } = await this.vitals.read();
		const figures = {
			seconds: Math.round(seconds),
			cpu_of_n8n_percent: Math.round(cpu / seconds / 10),
			calls_placed: received.filter(({ method }) => method === 'POST').length,
			reads_per_second: rounded(received.filter(({ method }) => method === 'GET').length / seconds),
			rss_mb: Math.round(rss_mb),
			heap_mb: Math.round(heap_mb),
			load: rounded(loadavg()[0] ?? Number.NaN),
		};
		this.figures[phase] = figures;
		console.log(phase, figures);
	}
}

const rounded = (value: number) => Math.round(value * 10) / 10;

runScript(main);
