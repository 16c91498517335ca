/** Jobs that measure the time from a signal (a frame or a delivery) until the node after the trigger runs. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/host/http/credential';
import { post } from '../../e2e/calls';
import { packageName } from '../../n8n/package-install';
import { LAZY_EXPRESSIONS } from '../../n8n/server';
import { until } from '../../n8n/until';
import { chain, node, webhook } from '../../n8n/workflow';
import { filled } from '../../simulator';
import type { Bench, Host } from './bench';
import { sidesOf, type Result, type Targets } from './report';
import { http, type Target } from './workflows';

/** A trigger, and how to start it. */
type Source = {
	/** The trigger, and further nodes that it needs for the same result. */
	nodes: INode[];
	/** Sends a signal. */
	send: (number: number) => Promise<unknown>;
	/** Finds the number of the signal in the stored execution. */
	numberIn: RegExp;
};

export type SignalJob = {
	signals: number;
	/** Time between two signals. */
	everyMs: number;
	/** The number of chat sessions. */
	sockets: number;
	ours: (bench: Bench) => Source;
	core: (bench: Bench) => Source;
	/** Settings for a separate n8n for this job. */
	host?: Host;
	target: Targets;
};

/**
 * Jobs don't share sessions. After a reset, the service numbers its events from 1 again, and the trigger, whose
 * connection stays open for a while, would ignore them as duplicates.
 */
const session = (sockets: number, number: number) => filled.sessionId(sockets + (number % sockets));

async function nudge(bench: Bench, sessionId: string, number: number): Promise<unknown> {
	return await bench.command('pushEvent', {
		sessionId,
		type: 'nudge_sent',
		payload: { idle_seconds: 60, signal: `signal-${number}` },
	});
}

const byFrames =
	(sockets: number): SignalJob['ours'] =>
	(bench) => {
		const ids = Array.from({ length: sockets }, (_, number) => session(sockets, number));
		const parameters = { sessionIds: ids.join(', ') };
		const credentials = { [CREDENTIAL]: bench.target.ours };
		const type = `${packageName}.chatEventsTrigger`;
		return {
			nodes: [node('Trigger', type, 1, parameters, { credentials })],
			send: async (number) => await nudge(bench, session(sockets, number), number),
			numberIn: /"signal-(\d+)"/,
		};
	};

/** n8n's own Webhook node, which responds immediately. */
const byWebhook =
	(more: (target: Target) => INode[], body: (number: number) => object, numberIn: RegExp) =>
	({ n8n, target }: Bench): Source => {
		const path = randomUUID();
		return {
			nodes: [webhook(path, { responseMode: 'onReceived' }), ...more(target)],
			send: async (number) =>
				await (await post(`${n8n.baseUrl}/webhook/${path}`, body(number))).text(),
			numberIn,
		};
	};

const completion = (number: number) => ({ call_id: filled.callId(number), status: 'picked' });
const numberOfCall = /"6f1c2a34-0000-4000-8000-000001(\d{6})"/;

function byCompletion({ n8n, target }: Bench): Source {
	const webhookId = randomUUID();
	const credentials = { [CREDENTIAL]: target.ours };
	const type = `${packageName}.callCompletedTrigger`;
	const url = `${n8n.baseUrl}/webhook/${webhookId}/call-completed`;
	return {
		nodes: [node('Trigger', type, 2, {}, { webhookId, credentials })],
		send: async (number) => await (await post(url, completion(number))).text(),
		numberIn: numberOfCall,
	};
}

const events = {
	signals: 1_000,
	everyMs: 40,
	core: byWebhook(
		() => [],
		(number) => ({ signal: `signal-${number}` }),
		/"signal-(\d+)"/,
	),
};

const completions = {
	// Enough that n8n's occasional garbage collections of a fifth of a second don't decide the result.
	signals: 600,
	// Slow enough for an n8n with two cores.
	everyMs: 100,
	sockets: 0,
	ours: byCompletion,
	/** Also reads the call, because a delivery alone proves nothing. */
	core: byWebhook(
		(target) => [http('=/v1/call/{{ $json.body.call_id }}', {}, target)],
		completion,
		numberOfCall,
	),
	target: { core: 1 },
};

export const signalJobs = {
	// The start of the execution plus the time of the frame.
	events_10k: { ...events, sockets: 1, ours: byFrames(1), target: { core: 2 } },
	events_10k_1000_sockets: {
		...events,
		sockets: 1_000,
		ours: byFrames(1_000),
		target: { core: 2, kb: 30 },
	},
	completions_1000: completions,
	completions_1000_lazy: { ...completions, host: { settings: LAZY_EXPRESSIONS } },
} satisfies { [name: string]: SignalJob };

/** The number of the first signal that is measured. Those with 0 show that the trigger is ready. */
const FIRST = 1;
const WARM_UP = 100;

type Measurement = { latencies: number[]; cpuMs: number; stallMs: number; peakMb: number };

export async function measureSignals(
	bench: Bench,
	name: string,
	job: SignalJob,
	rounds: number,
): Promise<Result> {
	const { sockets, signals, everyMs } = job;
	// Each signal of a side has a number of its own: a trigger ignores a call that is reported again.
	const calls = FIRST + WARM_UP + rounds * signals;
	await bench.resetService({ calls, sessions: 2 * sockets });
	const before = await bench.gauge.inspector.liveBytes();
	const ours = await activate(bench, `ours-${name}`, job.ours(bench));
	await bench.connected(sockets);
	const bytes = (await bench.gauge.inspector.liveBytes()) - before;
	const [bareBytes = Number.NaN] = sockets > 1 ? await bench.bare(['idle', String(sockets)]) : [];
	const core = await activate(bench, `core-${name}`, job.core(bench));
	const taken: { ours: Measurement[]; core: Measurement[] } = { ours: [], core: [] };
	for (let round = 0; round <= rounds; round++) {
		const count = round === 0 ? Math.min(WARM_UP, signals) : signals;
		const blocks = { ours: await ours.run(count, everyMs), core: await core.run(count, everyMs) };
		if (round === 0) continue;
		taken.ours.push(blocks.ours);
		taken.core.push(blocks.core);
	}
	await ours.deactivate();
	await core.deactivate();
	const all = (blocks: Measurement[]) => blocks.flatMap(({ latencies }) => latencies);
	const latencies = { ours: all(taken.ours), core: all(taken.core) };
	const medians = (of: (block: Measurement) => number) =>
		sidesOf({ ours: taken.ours.map(of), core: taken.core.map(of) });
	return {
		ms: sidesOf(latencies, 0.99),
		p50: sidesOf(latencies),
		cpuMs: medians(({ cpuMs }) => cpuMs),
		peakMb: medians(({ peakMb }) => peakMb),
		stallMs: medians(({ stallMs }) => stallMs),
		...(sockets > 1 && { kb: { ours: kb(bytes / sockets), bare: kb(bareBytes) } }),
	};
}

const kb = (bytes: number) => Math.round(bytes / 100) / 10;

/** Publishes the workflow. Returns functions that measure signals and unpublish it. */
async function activate(bench: Bench, name: string, { nodes, send, numberIn }: Source) {
	const workflow = await bench.driver.createWorkflow(
		chain(name, ...nodes, node('After', 'n8n-nodes-base.noOp', 1)),
	);
	await bench.driver.activate(workflow);
	const { executions, gauge } = bench;
	const isStarted = async () => {
		await send(0);
		await sleep(200);
		return executions.last(workflow.id) > 0;
	};
	await until(`${name} to start`, isStarted, { timeout: 180_000 });
	// Wait until early signals have ended, too.
	await sleep(2_000);
	let next = FIRST;
	const run = async (count: number, everyMs: number): Promise<Measurement> => {
		const after = executions.last(workflow.id);
		const first = next;
		next += count;
		const memoryBefore = await gauge.settle();
		const cpuBefore = await gauge.cpuMs();
		const sentAt = await sendAtPace({ first, count, everyMs }, send);
		const ended = await executions.ended(workflow.id, after, count);
		const cpuMs = ((await gauge.cpuMs()) - cpuBefore) / count;
		const stalls = (await gauge.stalls()).map(({ from, to }) => to - from);
		const latencies = ended.map(({ data, spans }) => {
			const number = numberIn.exec(data)?.[1];
			const started = spans.find(({ node: ran }) => ran === 'After')?.from;
			const sent = sentAt.get(Number(number));
			if (started === undefined || sent === undefined)
				throw new Error(`Signal ${number} didn't start ${name}`);
			return started - sent;
		});
		return {
			latencies,
			cpuMs,
			stallMs: Math.max(0, ...stalls),
			peakMb: gauge.peakMb() - memoryBefore,
		};
	};
	return { run, deactivate: async () => await bench.driver.deactivate(workflow) };
}

/** Sends signals at a fixed pace, however long each takes. Returns the time at which each was sent. */
async function sendAtPace(
	{ first, count, everyMs }: { first: number; count: number; everyMs: number },
	fire: (number: number) => Promise<unknown>,
): Promise<Map<number, number>> {
	const startedAt = Date.now();
	const sentAt = new Map<number, number>();
	const firing: Array<Promise<unknown>> = [];
	for (let number = first; number < first + count; number++) {
		const wait = startedAt + (number - first) * everyMs - Date.now();
		if (wait > 0) await sleep(wait);
		sentAt.set(number, Date.now());
		firing.push(fire(number));
	}
	await Promise.all(firing);
	return sentAt;
}
