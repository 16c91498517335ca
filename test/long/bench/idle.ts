/** `npm run long -- idle`: what n8n takes with this package while nothing happens, beside an n8n without it. */
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import range from 'lodash/range';
import type { IDataObject, INode } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/host/http/credential';
import { published } from '../../e2e/calls';
import { runScript } from '../../n8n/command';
import { N8nDriver } from '../../n8n/driver';
import { memoryMb } from '../../n8n/footprint';
import { Inspector } from '../../n8n/inspector';
import { installedPackage, newHome, packageName, removeHome } from '../../n8n/package-install';
import { freePort, listen } from '../../n8n/ports';
import type { N8nServer } from '../../n8n/server';
import { byId, chain, node } from '../../n8n/workflow';
import { filled, fixtures } from '../../simulator';
import { startServer } from './bench';
import { quantile, writeFormatted } from './report';
import { SimulatorProcess } from './simulatorProcess';

const { values } = parseArgs({
	options: {
		/** How long each n8n is measured. Triggers poll once a minute. */
		minutes: { type: 'string', default: '10' },
		/** How often n8n starts, with and without the package. */
		starts: { type: 'string', default: '7' },
	},
});

const SESSIONS = 1_000;
const POLLING_WORKFLOWS = 50;
const SERVICE_LATENCY_MS = 20;
const SETTLING_MS = 60_000;
const FEED =
	'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><item><title>One</title><link>https://example.com/1</link><pubDate>Mon, 02 Nov 2026 00:00:00 GMT</pubDate></item></channel></rss>';

/** Its own n8n for each of these, which are measured at the same time. */
type Side = { name: string; hasPackage: boolean; triggers: INode[] };

const trigger = (type: string, parameters: INode['parameters']) =>
	node('Trigger', `${packageName}.${type}`, 1, parameters);

/** @param feedUrl for n8n's own polling node, which shows what n8n takes for each check */
function sides(feedUrl: string): Side[] {
	const sessionIds = range(SESSIONS).map(filled.sessionId).join(', ');
	const pollTimes = { item: [{ mode: 'everyMinute' }] };
	const form = { campaignId: byId(fixtures.campaigns.active), pollTimes };
	return [
		{ name: 'Without the package', hasPackage: false, triggers: [] },
		{ name: 'With it, no workflow', hasPackage: true, triggers: [] },
		{
			name: `${SESSIONS} sessions watched`,
			hasPackage: true,
			triggers: [trigger('chatEventsTrigger', { sessionIds })],
		},
		{
			name: `${POLLING_WORKFLOWS} polling workflows`,
			hasPackage: true,
			triggers: range(POLLING_WORKFLOWS).map(() => trigger('campaignCallsTrigger', form)),
		},
		{
			name: `${POLLING_WORKFLOWS} with RSS Feed Trigger`,
			hasPackage: true,
			triggers: range(POLLING_WORKFLOWS).map(() =>
				node('Trigger', 'n8n-nodes-base.rssFeedReadTrigger', 1, { feedUrl, pollTimes }),
			),
		},
	];
}

class IdleN8n {
	private constructor(
		private readonly server: N8nServer,
		private readonly inspectorPort: number,
	) {}

	static async start(hasPackage: boolean): Promise<IdleN8n> {
		const home = await newHome();
		if (!hasPackage) await rm(installedPackage(home), { recursive: true });
		const port = await freePort();
		return new IdleN8n(await startServer(home, port), port);
	}

	async stop(): Promise<void> {
		await this.server.stop();
		await removeHome(this.server.home);
	}

	/** Milliseconds until n8n responds, and of CPU time until then. */
	async restart(): Promise<{ ms: number; cpuMs: number }> {
		await this.server.stop();
		const started = performance.now();
		await this.server.boot();
		const ms = performance.now() - started;
		return { ms, cpuMs: (await this.taken()).cpuMs };
	}

	/** Publishes a workflow for each trigger. */
	async publish(triggers: INode[], credential: IDataObject): Promise<void> {
		if (triggers.length === 0) return;
		const n8n = await N8nDriver.signIn(this.server.baseUrl);
		const credentials = { [CREDENTIAL]: await n8n.createCredential(CREDENTIAL, credential) };
		for (const [index, one] of triggers.entries()) {
			const after = node('After', 'n8n-nodes-base.noOp', 1);
			const json = chain(`Idle ${index}`, { ...one, credentials }, after);
			const workflow = await n8n.createWorkflow(json);
			await n8n.activate(workflow);
			await published(n8n, workflow);
		}
	}

	/** CPU time since the start, and memory after a garbage collection. */
	async taken(): Promise<{ cpuMs: number; mb: number }> {
		const inspector = await Inspector.attach(this.inspectorPort);
		const cpuMs = await inspector.cpuMs();
		await inspector.collectGarbage();
		inspector.detach();
		return { cpuMs, mb: memoryMb(this.server.pid, 'VmRSS') };
	}
}

/** In turn, so that a slow minute of the machine affects both. The first start of each only warms up. */
async function measureStarts(count: number): Promise<string[][]> {
	const both = [await IdleN8n.start(false), await IdleN8n.start(true)] as const;
	const taken = both.map(() => new Array<Awaited<ReturnType<IdleN8n['restart']>>>());
	try {
		for (let round = 0; round <= count; round++) {
			for (const [side, n8n] of both.entries()) {
				const one = await n8n.restart();
				if (round > 0) taken[side]?.push(one);
			}
		}
	} finally {
		for (const n8n of both) await n8n.stop();
	}
	const median = (figures: number[]) => String(Math.round(quantile(figures, 0.5)));
	return ['Without the package', 'With it'].map((name, side) => [
		name,
		median(taken[side]?.map(({ ms }) => ms) ?? []),
		median(taken[side]?.map(({ cpuMs }) => cpuMs) ?? []),
	]);
}

async function measureIdle(minutes: number): Promise<string[][]> {
	const simulator = await SimulatorProcess.start(SERVICE_LATENCY_MS);
	await simulator.reset({ sessions: SESSIONS });
	const feed = createServer((_request, response) => void response.end(FEED));
	const feedUrl = `http://127.0.0.1:${await listen(feed)}`;
	const running: Array<{ name: string; n8n: IdleN8n }> = [];
	try {
		for (const { name, hasPackage, triggers } of sides(feedUrl)) {
			const n8n = await IdleN8n.start(hasPackage);
			running.push({ name, n8n });
			await n8n.publish(triggers, simulator.credential);
		}
		await simulator.connected(SESSIONS);
		await sleep(SETTLING_MS);
		const before = await Promise.all(running.map(async ({ n8n }) => await n8n.taken()));
		await sleep(minutes * 60_000);
		const after = await Promise.all(running.map(async ({ n8n }) => await n8n.taken()));
		return running.map(({ name }, index) => {
			const [from, to] = [before[index], after[index]];
			if (from === undefined || to === undefined) throw new Error(`${name} wasn't measured`);
			const secondsPerHour = ((to.cpuMs - from.cpuMs) / 1_000) * (60 / minutes);
			return [name, secondsPerHour.toFixed(0), to.mb.toFixed(0)];
		});
	} finally {
		for (const { n8n } of running) await n8n.stop();
		simulator.stop();
		feed.close();
	}
}

async function main(): Promise<void> {
	const starts = await measureStarts(Number(values.starts));
	const idle = await measureIdle(Number(values.minutes));
	const table = (head: string[], rows: string[][]) =>
		[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
	const lines = [
		'# An idle n8n',
		'',
		`Written by \`npm run long -- idle\`: the medians of ${values.starts} starts, and then ${values.minutes} minutes of each n8n, on one machine.`,
		'',
		...table(['n8n starts', 'ms', 'CPU ms'], starts),
		'',
		...table(['n8n runs', 'CPU s per hour', 'Memory in MB'], idle),
	];
	console.log(lines.join('\n'));
	await writeFormatted(join(__dirname, 'idle.md'), lines.join('\n'));
}

runScript(main);
