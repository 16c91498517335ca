import { execFile } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { deliver } from '../../e2e/sender';
import type { N8nDriver, Workflow } from '../../n8n/driver';
import { connect, externalFolder, externalN8n } from '../../n8n/external';
import { installHost } from '../../n8n/host';
import { newHome, projectFolder, removeHome } from '../../n8n/package-install';
import { freePort } from '../../n8n/ports';
import { N8nServer, placesIn, type RunningN8n } from '../../n8n/server';
import { until } from '../../n8n/until';
import type { WorkflowJson } from '../../n8n/workflow';
import { Executions } from './executions';
import { Gauge } from './gauge';
import { SimulatorProcess, tsx, type ServiceData } from './simulatorProcess';
import type { Target } from './workflows';

const SERVICE_LATENCY_MS = 20;
const MAX_RUN_MS = 3_600_000;
/** n8n writes its insights every 30 seconds, which blocks its event loop for a third of a second. */
const QUIET = { N8N_DISABLED_MODULES: 'insights', EXECUTIONS_DATA_PRUNE: 'false' };

/** Non-default settings for n8n. */
export type Host = {
	/** The heap limit. */
	heapMb?: number;
	/** Environment variables. */
	settings?: { [name: string]: string };
};

/** The measurements of one execution. */
export type Sample = {
	wallMs: number;
	/** Time of the nodes that differ between the two sides. */
	stepMs: number;
	/** CPU time of the whole execution, without storing it. */
	cpuMs: number;
	/** Longest stall of the event loop. */
	stallMs: number;
	/** Memory above the usage before the execution. */
	peakMb: number;
};

/** Nodes that both sides have. They aren't measured. */
const SHARED = ['Webhook', 'Read', 'Extract', 'Seed', 'Done'];

/** A real n8n, and the simulator in its own process. */
export class Bench {
	private readonly prepared: Workflow[] = [];

	private constructor(
		readonly n8n: RunningN8n,
		private readonly home: string,
		readonly driver: N8nDriver,
		readonly target: Target,
		readonly gauge: Gauge,
		readonly executions: Executions,
		private readonly simulator: SimulatorProcess,
	) {}

	/** Starts n8n, or uses the n8n of N8N_URL, whose settings are its own. */
	static async start(options: Host = {}): Promise<Bench> {
		if (externalN8n !== undefined) {
			const folder = externalFolder();
			if (folder === undefined) throw new Error('The benchmarks need N8N_FOLDER');
			return await Bench.attach(externalN8n, folder.home, folder.inspectorPort);
		}
		const home = await newHome();
		const inspected = await freePort();
		return await Bench.attach(await startServer(home, inspected, options), home, inspected);
	}

	private static async attach(n8n: RunningN8n, home: string, inspected: number): Promise<Bench> {
		const simulator = await SimulatorProcess.start(SERVICE_LATENCY_MS);
		const gauge = await Gauge.attach(inspected);
		const driver = await connect(n8n);
		const { baseUrl, token, credential } = simulator;
		const target: Target = {
			baseUrl,
			files: placesIn(home).files,
			ours: await driver.createCredential('voiceChatAgentApiTokenApi', credential),
			header: await driver.createCredential('httpHeaderAuth', { name: 'API-Token', value: token }),
		};
		return new Bench(n8n, home, driver, target, gauge, new Executions(home), simulator);
	}

	async stop(): Promise<void> {
		this.gauge.inspector.detach();
		this.executions.close();
		this.simulator.stop();
		if (this.n8n === externalN8n) {
			for (const workflow of this.prepared) await this.driver.deleteWorkflow(workflow);
			return;
		}
		await this.n8n.stop();
		await removeHome(this.home);
	}

	/** Publishes a workflow. Returns a function that runs and measures it. */
	async prepare(workflow: WorkflowJson): Promise<(profile?: string) => Promise<Sample>> {
		const saved = await this.driver.createWorkflow(workflow);
		this.prepared.push(saved);
		await this.driver.activate(saved);
		return async (profile) => await this.measure(workflow.name, saved.id, profile);
	}

	/** Runs the bare script. Returns its measurements in milliseconds or bytes. */
	async bare(args: string[]): Promise<number[]> {
		const { stdout } = await promisify(execFile)(
			process.execPath,
			[
				'--expose-gc',
				...tsx,
				'test/long/bench/bare.ts',
				this.target.baseUrl,
				this.simulator.token,
				...args,
			],
			{ cwd: projectFolder },
		);
		return z.object({ figures: z.array(z.number()) }).parse(JSON.parse(stdout)).figures;
	}

	/** Resets the service and adds data. */
	async resetService(data: ServiceData = {}): Promise<void> {
		await this.simulator.reset(data);
	}

	/** Waits until this many sockets are open. */
	async connected(sockets: number): Promise<void> {
		await this.simulator.connected(sockets);
	}

	async command(name: string, body: object): Promise<unknown> {
		return await this.simulator.command(name, body);
	}

	/** Creates a file with this many rows. */
	async contacts(rows: number): Promise<string> {
		const file = join(this.target.files, `contacts-${rows}.csv`);
		if (!existsSync(file))
			await pipeline(Readable.from(contactsCsv(rows)), createWriteStream(file));
		return file;
	}

	/** Not with `fetch`, which gives up after five minutes without a response. */
	private async run(path: string, workflowId: string): Promise<void> {
		const url = `${this.n8n.baseUrl}/webhook/${path}`;
		const result = await until(`the webhook ${path}`, async () => {
			const response = await deliver(url, {}, MAX_RUN_MS);
			return response === 404 ? undefined : response;
		});
		if (result === 200) return;
		const id = String(this.executions.last(workflowId));
		await this.driver.finished(id);
		const { error } = await this.driver.runData(id);
		throw new Error(`${path}: ${result} ${error?.message} ${error?.description}`);
	}

	private async measure(path: string, workflowId: string, profile?: string): Promise<Sample> {
		const { gauge, executions } = this;
		const before = executions.last(workflowId);
		const memoryBefore = await gauge.settle();
		const act = async () => {
			const started = performance.now();
			await this.run(path, workflowId);
			return performance.now() - started;
		};
		const cpuBefore = await gauge.cpuMs();
		const wallMs =
			profile === undefined ? await act() : await gauge.inspector.profile(profile, act);
		const cpuMs = (await gauge.cpuMs()) - cpuBefore;
		const stalls = await gauge.stalls();
		const peakMb = gauge.peakMb() - memoryBefore;
		const [execution] = await executions.ended(workflowId, before);
		const spans = (execution?.spans ?? []).filter(({ node }) => !SHARED.includes(node));
		const during = stalls.filter(({ from, to }) =>
			spans.some((span) => from <= span.to && to >= span.from),
		);
		return {
			wallMs,
			stepMs: spans.reduce((sum, { from, to }) => sum + to - from, 0),
			cpuMs,
			stallMs: Math.max(0, ...during.map(({ from, to }) => to - from)),
			peakMb,
		};
	}
}

/** @param inspected the port of its inspector */
export async function startServer(
	home: string,
	inspected: number,
	{ heapMb, settings }: Host = {},
): Promise<N8nServer> {
	const host = await installHost(console.log);
	const heap = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
	const NODE_OPTIONS = [`--inspect=127.0.0.1:${inspected}`, ...heap].join(' ');
	return await N8nServer.start({ host, home, env: { ...settings, NODE_OPTIONS, ...QUIET } });
}

function* contactsCsv(rows: number): Generator<string> {
	const cities = ['Pune', 'Delhi', 'Chennai', 'Kolkata', 'Mumbai', 'Jaipur', 'Kochi'];
	const plans = ['free', 'basic', 'pro', 'enterprise'];
	yield 'person_name,phone,city,plan\n';
	for (let index = 0; index < rows; index++) {
		const city = cities[index % cities.length] ?? '';
		const plan = plans[index % plans.length] ?? '';
		yield `Person Number ${index},${9_000_000_000 + index * 7},${city},${plan}\n`;
	}
}
