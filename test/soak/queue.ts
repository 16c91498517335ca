/**
 * `npm run soak:queue`: n8n in queue mode (Redis, PostgreSQL, a main process, a worker and a separate
 * webhook process), to see what the triggers and the waits do there. Needs Debian's redis-server and postgresql.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allExecutions, credentialFor, PACKAGE, placeCalls, post } from '../e2e/calls';
import { N8nDriver, type Reference } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { installPackage } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';

const CALLS = 40;
const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.full };
const children: ChildProcess[] = [];

function start(command: string, args: string[], log: string, env: NodeJS.ProcessEnv = process.env) {
	const file = openSync(log, 'a');
	const child = spawn(command, args, { env, stdio: ['ignore', file, file] });
	children.push(child);
	return child;
}

/** The latest first: a worker that loses its database, or a database whose folder goes, ends in noise. */
async function stopAll(): Promise<void> {
	for (const child of children.reverse()) {
		if (child.exitCode !== null || child.signalCode !== null) continue;
		const exited = once(child, 'exit');
		child.kill('SIGTERM');
		await exited;
	}
}

async function startRedis(home: string): Promise<number> {
	const port = await freePort();
	const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', home];
	start('redis-server', args, join(home, 'redis.log'));
	return port;
}

/** PostgreSQL refuses to run as root, so its own user runs it where we are root. */
async function startPostgres(home: string): Promise<number> {
	const port = await freePort();
	const versions = readdirSync('/usr/lib/postgresql').sort();
	const bin = (name: string) => join('/usr/lib/postgresql', versions.at(-1) ?? '', 'bin', name);
	const data = join(home, 'postgres');
	mkdirSync(data);
	chmodSync(home, 0o755);
	const asRoot = process.getuid?.() === 0;
	if (asRoot) execFileSync('chown', ['postgres', data]);
	const [command, before] = asRoot ? ['runuser', ['-u', 'postgres', '--']] : ['env', []];
	execFileSync(command, [...before, bin('initdb'), '-D', data, '-U', 'n8n', '-A', 'trust']);
	const args = ['-D', data, '-p', String(port), '-k', data, '-h', '127.0.0.1'];
	start(command, [...before, bin('postgres'), ...args], join(home, 'postgres.log'));
	await until('PostgreSQL', async () => {
		execFileSync(bin('createdb'), ['-h', '127.0.0.1', '-p', String(port), '-U', 'n8n', 'n8n'], {
			stdio: 'ignore',
		});
		return true;
	});
	return port;
}

type Stage = {
	n8n: N8nDriver;
	simulator: Simulator;
	webhookUrl: string;
	credentials: Record<string, Reference>;
};

/** Deliveries reach the webhook process; executions run in the worker. */
async function completions({ n8n, simulator, webhookUrl, credentials }: Stage): Promise<void> {
	const webhookId = randomUUID();
	const trigger = node(
		'Trigger',
		`${PACKAGE}.callCompletedTrigger`,
		1,
		{},
		{ webhookId, credentials },
	);
	const workflow = await n8n.createWorkflow(chain('completed', trigger));
	await n8n.activate(workflow);
	const url = `${webhookUrl}/webhook/${webhookId}/call-completed`;
	await until('the trigger', async () => (await post(url, '')).status === 400);
	for (const callId of await placeCalls(simulator, CALLS, url)) {
		await simulator.completeCall(callId, {}, { deliverTimes: 2 });
	}
	const count = async () =>
		(await allExecutions(n8n, workflow)).filter(({ status }) => status === 'success').length;
	await until(`${CALLS} executions`, async () => (await count()) >= CALLS, { timeout: 60_000 });
	const executions = await count();
	console.log(
		`Call Completed Trigger: ${CALLS} calls, each delivered twice → ${executions} executions`,
	);
	assert.equal(executions, CALLS);
}

/** The calls are placed and waited for in the worker; reports arrive at the webhook process. */
async function waiting({ n8n, simulator, credentials }: Stage): Promise<void> {
	const path = randomUUID();
	const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
	const parameters = {
		agentUuid,
		countryCode: 'IN',
		phoneNumber: '={{ $json.phone }}',
		waitForCompletion: 'webhook',
	};
	const place = node('Place Call', `${PACKAGE}.placeCall`, 1, parameters, { credentials });
	const begin = webhook(path, { responseMode: 'onReceived' });
	const workflow = await n8n.createWorkflow(chain('waiting', begin, split, place));
	await n8n.activate(workflow);
	simulator.setAutoComplete({ afterMs: 1_500 });
	const people = Array.from({ length: 20 }, (_, index) => ({
		phone: String(9_800_000_000 + index),
	}));
	await n8n.webhook(path, { people });
	const ended = await until(
		'the execution to end',
		async () => (await allExecutions(n8n, workflow)).find(({ status }) => status === 'success'),
		{ timeout: 90_000 },
	);
	const calls = await n8n.output(ended.id, 'Place Call');
	const known = calls.filter(({ json }) => json.timed_out === false).length;
	const placed = simulator.placedCalls().length;
	console.log(
		`Place Call → Wait: ${people.length} people, ${placed} calls placed, ${known} known in the end`,
	);
	assert.deepEqual({ placed, known }, { placed: people.length, known: people.length });
}

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const home = await mkdtemp(join(tmpdir(), 'n8n-queue-'));
	const simulator = await startSimulator({ dialect: dialects.plain });
	let server: N8nServer | undefined;
	try {
		await installPackage(home);
		const [redis, postgres, webhookPort] = [
			await startRedis(home),
			await startPostgres(home),
			await freePort(),
		];
		const webhookUrl = `http://127.0.0.1:${webhookPort}`;
		const env = {
			EXECUTIONS_MODE: 'queue',
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(redis),
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(postgres),
			DB_POSTGRESDB_DATABASE: 'n8n',
			DB_POSTGRESDB_USER: 'n8n',
			WEBHOOK_URL: `${webhookUrl}/`,
		};
		server = await N8nServer.start({ host, home, env });
		const n8nBin = join(host, 'node_modules/n8n/bin/n8n');
		for (const [role, port] of [
			['worker', await freePort()],
			['webhook', webhookPort],
		] as const) {
			const ports = {
				N8N_PORT: String(port),
				QUEUE_HEALTH_CHECK_PORT: String(port),
				N8N_RUNNERS_BROKER_PORT: String(await freePort()),
			};
			const log = join(home, `${role}.log`);
			start(process.execPath, [n8nBin, role], log, server.environment(ports));
		}
		await until('the webhook process', async () => (await fetch(`${webhookUrl}/healthz`)).ok, {
			timeout: 60_000,
		});
		const n8n = await N8nDriver.signIn(server.baseUrl);
		const stage = { n8n, simulator, webhookUrl, credentials: await credentialFor(n8n, simulator) };
		await completions(stage);
		simulator.reset();
		await waiting(stage);
	} finally {
		await server?.stop();
		await stopAll();
		await simulator.stop();
		await rm(home, { recursive: true, force: true });
	}
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
