import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { N8nDriver } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { installPackage, projectFolder } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import type { WorkflowJson } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { peakRssMb, resetPeak, StallProbe } from './process';
import type { Target } from './workflows';

const SERVICE_LATENCY_MS = 20;
const TOKEN = 'benchmark-token-';
const tsx = ['--import', 'tsx'];
const stats = z.object({ maxActive: z.number(), newSockets: z.number(), requests: z.number() });

/** What one execution took. */
export type Sample = {
	wallMs: number;
	/** Time of each node, summed over its runs. */
	nodeMs: Map<string, number>;
	/** Longest stall of the event loop while one of these nodes ran. */
	stallMs(nodes: string[]): number;
	peakRssMb: number;
	maxConnections: number;
};

/** A real n8n, the simulator in a process of its own, and the file that the feeds read. */
export class Bench {
	private constructor(
		readonly n8n: N8nServer,
		readonly driver: N8nDriver,
		readonly target: Target,
		readonly file: string,
		private readonly simulator: ChildProcess,
	) {}

	static async start(rows: number): Promise<Bench> {
		const host = await installHost(console.log);
		const home = await mkdtemp(join(tmpdir(), 'n8n-bench-'));
		await installPackage(home);
		const port = await freePort();
		const cli = ['test/simulator/cli.ts', '--port', String(port), '--token', TOKEN, '--no-bodies'];
		const simulator = spawn(
			process.execPath,
			[...tsx, ...cli, '--latency', String(SERVICE_LATENCY_MS)],
			{ cwd: projectFolder, stdio: 'ignore' },
		);
		const baseUrl = `http://127.0.0.1:${port}`;
		await until('the simulator', async () => (await fetch(`${baseUrl}/__simulator/stats`)).ok);
		const n8n = await N8nServer.start({ host, home });
		const driver = await N8nDriver.signIn(n8n.baseUrl);
		const target: Target = {
			baseUrl,
			ours: await driver.createCredential('voiceChatAgentApiTokenApi', {
				baseUrl,
				apiToken: TOKEN,
			}),
			header: await driver.createCredential('httpHeaderAuth', { name: 'API-Token', value: TOKEN }),
		};
		const file = join(n8n.files, 'contacts.csv');
		writeFileSync(file, contactsCsv(rows));
		return new Bench(n8n, driver, target, file, simulator);
	}

	async stop(): Promise<void> {
		await this.n8n.stop();
		this.simulator.kill('SIGTERM');
		await rm(this.n8n.home, { recursive: true, force: true });
	}

	/** Saves and activates a workflow whose webhook path is its name. */
	async prepare(workflow: WorkflowJson): Promise<() => Promise<Sample>> {
		const saved = await this.driver.createWorkflow(workflow);
		await this.driver.activate(saved);
		return async () => await this.measure(workflow.name, saved.id);
	}

	/** Runs the bare script and gives the milliseconds it counted. */
	async bare(...args: string[]): Promise<number> {
		await this.resetService();
		const path = args[0] === 'feed' ? campaignPath : '/v1/call';
		const [job = '', ...rest] = args;
		const { stdout } = await promisify(execFile)(
			process.execPath,
			[
				...tsx,
				'test/bench/bare.ts',
				job,
				`${this.target.baseUrl}${path}`,
				TOKEN,
				fixtures.agents.full,
				...rest,
			],
			{ cwd: projectFolder },
		);
		return z.object({ ms: z.number() }).parse(JSON.parse(stdout)).ms;
	}

	private async measure(path: string, workflowId: string): Promise<Sample> {
		await this.resetService();
		const before = new Set(
			(await this.driver.executions({ id: workflowId, name: path })).map(({ id }) => id),
		);
		resetPeak(this.n8n.pid);
		const probe = new StallProbe(this.n8n.baseUrl);
		const started = performance.now();
		const response = await this.driver.webhook(path);
		await response.text();
		const wallMs = performance.now() - started;
		if (!response.ok) throw new Error(`${path} answered ${response.status}`);
		await probe.stop();
		const peak = peakRssMb(this.n8n.pid);
		const executions = await this.driver.executions({ id: workflowId, name: path });
		const execution = executions.find(({ id }) => !before.has(id));
		if (execution === undefined) throw new Error(`${path} stored no execution`);
		await this.driver.finished(execution.id);
		const { runData } = await this.driver.runData(execution.id);
		const { maxActive } = stats.parse(
			await (await fetch(`${this.target.baseUrl}/__simulator/stats`)).json(),
		);
		const spans = Object.entries(runData).flatMap(([name, runs]) =>
			runs.map(({ startTime, executionTime }) => ({ name, from: startTime, ms: executionTime })),
		);
		const nodeMs = new Map<string, number>();
		for (const { name, ms } of spans) nodeMs.set(name, (nodeMs.get(name) ?? 0) + ms);
		return {
			wallMs,
			nodeMs,
			stallMs: (nodes) =>
				Math.max(
					0,
					...spans
						.filter(({ name }) => nodes.includes(name))
						.map(({ from, ms }) => probe.longest(from, from + ms)),
				),
			peakRssMb: peak,
			maxConnections: maxActive,
		};
	}

	private async resetService(): Promise<void> {
		await fetch(`${this.target.baseUrl}/__simulator/reset`, { method: 'POST' });
	}
}

const campaignPath = `/v1/campaigns/${fixtures.campaigns.active}/contacts`;

function contactsCsv(rows: number): string {
	const cities = ['Pune', 'Delhi', 'Chennai', 'Kolkata', 'Mumbai', 'Jaipur', 'Kochi'];
	const plans = ['free', 'basic', 'pro', 'enterprise'];
	const lines = Array.from({ length: rows }, (_, index) => {
		const city = cities[index % cities.length] ?? '';
		const plan = plans[index % plans.length] ?? '';
		return `Person Number ${index},${9_000_000_000 + index * 7},${city},${plan}`;
	});
	return `person_name,phone,city,plan\n${lines.join('\n')}\n`;
}
