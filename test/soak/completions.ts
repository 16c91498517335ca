/**
 * Sends completions of calls with short timeouts, each delivered twice, to Call Completed Trigger and at the same time
 * to n8n's Webhook node in another n8n. Prints how many calls started the workflow. Fails if our trigger lost a call or
 * started twice for one. `--lazy` and `--patient` use settings that docs/instance-setup.md recommends. `--senders 0,2` selects
 * senders.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import { credentialFor, PACKAGE, placeCalls, post } from '../e2e/calls';
import { runScript } from '../n8n/command';
import { N8nDriver, type Reference } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { installPackage } from '../n8n/package-install';
import { memoryMb } from '../n8n/footprint';
import { LAZY_EXPRESSIONS, N8nServer, LONG_PING_TIMEOUT } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node, webhook } from '../n8n/workflow';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { deliver, type DeliveryResult } from '../e2e/sender';

type Sender = { name: string; calls: number; everyMs: number; timeoutMs: number };

const SENDERS: Sender[] = [
	{ name: 'waits 3 s', calls: 150, everyMs: 100, timeoutMs: 3_000 },
	{ name: 'disconnects immediately', calls: 150, everyMs: 100, timeoutMs: 0 },
	{ name: 'waits 60 s', calls: 150, everyMs: 100, timeoutMs: 60_000 },
	{ name: '500 calls in 7 s, waits 10 s', calls: 500, everyMs: 14, timeoutMs: 10_000 },
];

/** Half seconds without a new execution until the run counts as finished. */
const MAX_UNCHANGED = 80;
const MAX_WAIT_MS = 5 * 60_000;

type Stage = {
	server: N8nServer;
	n8n: N8nDriver;
	simulator: Simulator;
	credentials: Record<string, Reference>;
};

type Target = { name: string; path: string; node: INode; once: boolean };

const TARGETS: Array<(stage: Stage) => Target> = [
	({ credentials }) => {
		const webhookId = randomUUID();
		const type = `${PACKAGE}.callCompletedTrigger`;
		return {
			name: 'Call Completed Trigger',
			path: `${webhookId}/call-completed`,
			node: node('Start', type, 2, {}, { webhookId, credentials }),
			once: true,
		};
	},
	() => {
		const path = randomUUID();
		return {
			name: "n8n's Webhook node",
			path,
			node: { ...webhook(path, { responseMode: 'onReceived' }), name: 'Start' },
			once: false,
		};
	},
];

async function runSender(stage: Stage, sender: Sender, target: Target): Promise<boolean> {
	const { server, n8n, simulator } = stage;
	const flow = chain(target.name, target.node, node('After', 'n8n-nodes-base.noOp', 1));
	const workflow = await n8n.createWorkflow(flow);
	await n8n.activate(workflow);
	const url = `${server.baseUrl}/webhook/${target.path}`;
	await until('the trigger', async () => (await post(url, '')).status !== 404);
	const calls = await placeCalls(simulator, sender.calls, url);
	for (const callId of calls) await simulator.endCall(callId);
	const deliveries: Promise<DeliveryResult>[] = [];
	const started = Date.now();
	let longestPause = 0;
	for (const [index, callId] of calls.entries()) {
		const due = started + index * sender.everyMs;
		longestPause = Math.max(longestPause, Date.now() - due);
		if (due > Date.now()) await sleep(due - Date.now());
		const body = { call_id: callId, status: 'picked' };
		deliveries.push(deliver(url, body, sender.timeoutMs), deliver(url, body, sender.timeoutMs));
	}
	const responses = countBy(await Promise.all(deliveries));
	const sentFor = Date.now() - started;
	const times = await settled(server, workflow, calls);
	const counts = [...times.values()];
	const lost = counts.filter((count) => count === 0).length;
	const again = counts.filter((count) => count > 1).length;
	console.log(
		`${target.name}, a sender that ${sender.name}: ${calls.length} calls, each delivered twice → ` +
			`${counts.reduce((sum, count) => sum + count, 0)} executions, ${lost} calls lost, ${again} more than once ` +
			`(responses ${JSON.stringify(responses)}, load ${loadavg()[0]?.toFixed(0)}, sent in ${seconds(sentFor)}, all done after ${seconds(Date.now() - started)}, ${memory(server)})`,
	);
	await n8n.deactivate(workflow);
	return !target.once || (lost === 0 && again === 0);
}

function countBy(values: readonly DeliveryResult[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
	return counts;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function memory({ pid }: N8nServer): string {
	return `${Math.round(memoryMb(pid, 'VmRSS'))} MB of memory`;
}

const storedRows = z.array(z.object({ status: z.string(), data: z.string() }));

/** The number of starts per call, after all calls have started or nothing has changed for a while. */
async function settled(
	{ home }: N8nServer,
	{ id }: Reference,
	calls: string[],
): Promise<Map<string, number>> {
	let last = -1;
	const end = Date.now() + MAX_WAIT_MS;
	for (let unchanged = 0; ; unchanged++) {
		const rows = readExecutions(home, id);
		const done = rows.filter(({ status }) => status === 'success');
		const hasEnded = done.length === rows.length;
		if (done.length !== last) unchanged = 0;
		last = done.length;
		const complete = hasEnded && done.length >= calls.length * 2 && unchanged >= 4;
		if (complete || unchanged >= MAX_UNCHANGED || Date.now() > end) {
			const times = new Map(calls.map((callId) => [callId, 0]));
			// An execution for a repeat ends at the trigger.
			for (const { data } of done.filter((row) => row.data.includes('"After"'))) {
				const callId = calls.find((one) => data.includes(one));
				if (callId !== undefined) times.set(callId, (times.get(callId) ?? 0) + 1);
			}
			return times;
		}
		await sleep(500);
	}
}

function readExecutions(home: string, workflowId: string): z.infer<typeof storedRows> {
	const file = join(home, '.n8n', 'database.sqlite');
	const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
	try {
		const query = `select e.status as status, d.data as data from execution_entity e
			join execution_data d on d.executionId = e.id where e.workflowId = ?`;
		return storedRows.parse(database.prepare(query).all(workflowId));
	} finally {
		database.close();
	}
}

async function openStage(host: string, env: Record<string, string>): Promise<Stage> {
	const home = await mkdtemp(join(tmpdir(), 'n8n-completions-'));
	await installPackage(home);
	const simulator = await startSimulator({ dialect: dialects.plain });
	const server = await N8nServer.start({ host, home, env });
	const n8n = await N8nDriver.signIn(server.baseUrl);
	return { server, n8n, simulator, credentials: await credentialFor(n8n, simulator) };
}

async function closeStage({ server, simulator }: Stage): Promise<void> {
	await server.stop();
	await simulator.stop();
	await rm(server.home, { recursive: true, force: true });
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			lazy: { type: 'boolean', default: false },
			patient: { type: 'boolean', default: false },
			senders: { type: 'string' },
		},
	});
	const chosen = values.senders?.split(',').map(Number);
	const senders = SENDERS.filter((_, index) => chosen?.includes(index) ?? true);
	const host = await installHost(console.log);
	const env = { ...(values.lazy && LAZY_EXPRESSIONS), ...(values.patient && LONG_PING_TIMEOUT) };
	console.log('Settings of n8n:', env);
	const stages: Stage[] = [];
	const trials: Array<(sender: Sender) => Promise<boolean>> = [];
	try {
		for (const makeTarget of TARGETS) {
			const stage = await openStage(host, env);
			stages.push(stage);
			trials.push(async (sender) => await runSender(stage, sender, makeTarget(stage)));
		}
		for (const sender of senders) {
			const passed = await Promise.all(trials.map(async (begin) => await begin(sender)));
			if (!passed.every(Boolean)) process.exitCode = 1;
		}
	} finally {
		for (const stage of stages) await closeStage(stage);
	}
}

runScript(main);
