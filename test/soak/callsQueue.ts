/**
 * `npm run long -- calls-queue [--rates 200:2,400:10 --block 60 --sides ours,core]`: completed calls for n8n in queue mode
 * with two webhook processes and two workers (Debian's Redis and PostgreSQL). Each rate has the calls per minute and the
 * minutes. Sends them in turn to Call Completed Trigger, and to n8n's Webhook node with an HTTP Request node that reads the
 * call. Prints what was started, lost, and started twice, the time from the delivery to the next node, and the CPU time of
 * each kind of process. Fails if our trigger lost a call or started twice for one.
 * `--repeat-every 10` delivers every tenth call to both webhook processes at the same time, for our trigger and for n8n's
 * Remove Duplicates (`core_once`). With `--hang-up`, senders disconnect as soon as they have sent.
 */
import { parseArgs } from 'node:util';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { SimulatorProcess } from '../bench/simulatorProcess';
import { deliver } from '../e2e/sender';
import { runScript } from '../n8n/command';
import { N8nDriver } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { newHome, removeHome } from '../n8n/package-install';
import { QueueMode } from '../n8n/queueMode';
import { EXPRESSION_ENGINE, LONG_PING_TIMEOUT } from '../n8n/server';
import { until } from '../n8n/until';
import { runBlock, summarize, type Block, type Pids } from './completionBlock';
import { Side, SIDES, type SideName } from './completionSides';

const { values } = parseArgs({
	options: {
		rates: { type: 'string', default: '200:2,400:2,1000:2' },
		block: { type: 'string', default: '60' },
		sides: { type: 'string', default: 'ours,core' },
		workers: { type: 'string', default: '2' },
		webhooks: { type: 'string', default: '2' },
		'repeat-every': { type: 'string', default: '0' },
		'hang-up': { type: 'boolean', default: false },
	},
});

const SERVICE_LATENCY_MS = 20;
const WARM_UP_CALLS = 40;

/** More than a run needs. */
const MAX_CALLS = 60_000;

const SETTINGS = {
	// With the default of 2, webhooks get 503.
	DB_POSTGRESDB_POOL_SIZE: '8',
	N8N_CONCURRENCY_PRODUCTION_LIMIT: '20',
	...EXPRESSION_ENGINE,
	...LONG_PING_TIMEOUT,
};

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const home = await newHome();
	const simulator = await SimulatorProcess.start(SERVICE_LATENCY_MS);
	await simulator.reset({ calls: MAX_CALLS });
	const count = { workers: Number(values.workers), webhooks: Number(values.webhooks) };
	const queue = await QueueMode.start({ host, home, env: SETTINGS }, count);
	try {
		const sides = await publish(queue, simulator);
		const pids: Pids = {
			main: [queue.main.pid],
			webhook: queue.webhooks.map(({ pid }) => pid),
			worker: queue.workers.map(({ pid }) => pid),
			postgres_redis: queue.stores.pids,
			simulator: [simulator.pid],
		};
		const calls = new CallNumbers();
		await warmUp(sides, queue, pids, calls);
		for (const [rate = 0, minutes = 0] of rates()) {
			console.dir(await measure(sides, queue, pids, calls, rate, minutes), { depth: 4 });
		}
	} finally {
		await queue.stop();
		simulator.stop();
		await removeHome(home);
	}
}

/** Each call is used once, because a trigger recognizes repeats. */
class CallNumbers {
	private next = 0;

	take(count: number): number {
		const first = this.next;
		this.next += count;
		if (this.next > MAX_CALLS) throw new Error(`The service has only ${MAX_CALLS} calls`);
		return first;
	}
}

async function publish(queue: QueueMode, simulator: SimulatorProcess): Promise<Side[]> {
	const n8n = await N8nDriver.signIn(queue.main.baseUrl);
	const { baseUrl, token, credential } = simulator;
	const target = {
		baseUrl,
		files: home(queue),
		ours: await n8n.createCredential(CREDENTIAL, credential),
		header: await n8n.createCredential('httpHeaderAuth', { name: 'API-Token', value: token }),
	};
	const chosen = values.sides.split(',').filter(isSide);
	const sides: Side[] = [];
	for (const name of chosen) sides.push(await Side.publish(name, n8n, queue, target));
	return sides;
}

const rates = () => values.rates.split(',').map((rate) => rate.split(':').map(Number));

const isSide = (name: string): name is SideName => SIDES.some((side) => side === name);
const home = ({ main: { files } }: QueueMode) => files;

/**
 * The first completion of a workflow can wait for two minutes in each webhook process, because the trigger could still
 * start there.
 */
async function warmUp(
	sides: readonly Side[],
	queue: QueueMode,
	pids: Pids,
	calls: CallNumbers,
): Promise<void> {
	const accepted = sides.flatMap((side) =>
		side.urls.map(async (url) => {
			const completion = side.completion(calls.take(1));
			const isAccepted = async () => (await deliver(url, completion, 30_000)) === 200;
			await until('the first completion', isAccepted, { timeout: 240_000, every: 1_000 });
		}),
	);
	await Promise.all(accepted);
	const pace = { calls: WARM_UP_CALLS, everyMs: 250, repeatEvery: 0 };
	for (const side of sides) await runBlock(side, queue, pids, calls.take(WARM_UP_CALLS), pace);
}

/** Blocks of each side in turn, until each has sent for the given time. */
async function measure(
	sides: readonly Side[],
	queue: QueueMode,
	pids: Pids,
	calls: CallNumbers,
	rate: number,
	minutes: number,
) {
	const blockSeconds = Number(values.block);
	const rounds = Math.max(1, Math.round((minutes * 60) / blockSeconds));
	const pace = {
		calls: Math.round((rate * blockSeconds) / 60),
		everyMs: 60_000 / rate,
		repeatEvery: Number(values['repeat-every']),
		hangsUp: values['hang-up'],
	};
	const blocks = new Map(sides.map(({ name }) => [name, new Array<Block>()]));
	for (let round = 0; round < rounds; round++) {
		for (const side of sides) {
			const block = await runBlock(side, queue, pids, calls.take(pace.calls), pace);
			blocks.get(side.name)?.push(block);
			const { p50_ms, p99_ms, lost, started_twice, load } = summarize([block]);
			console.log({ rate, round, side: side.name, p50_ms, p99_ms, lost, started_twice, load });
		}
	}
	const figures = Object.fromEntries([...blocks].map(([name, all]) => [name, summarize(all)]));
	const { ours, core } = figures;
	if (ours !== undefined && ours.lost + ours.started_twice > 0) process.exitCode = 1;
	const ratio = ours && core ? Math.round((ours.p99_ms / core.p99_ms) * 100) / 100 : undefined;
	return {
		calls_per_minute: rate,
		minutes_per_side: (rounds * blockSeconds) / 60,
		ratio,
		...figures,
	};
}

runScript(main);
