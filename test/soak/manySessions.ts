/**
 * `npm run soak:sessions [-- --sessions 2000 --minutes 7 --rate 50]`: two Chat Events Triggers in one n8n follow 2,000 sessions with
 * 50 events per second, of which 10 start the workflow, until each connection was renewed. Fails if an event is lost or
 * starts two executions.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { installHost } from '../n8n/host';
import { installPackage } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { LAZY_EXPRESSIONS, N8nServer } from '../n8n/server';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { allConnected, evaluate, listenTo, settled } from './storm';
import { VitalsReader } from './vitals';

/** One event in this many starts the workflow. */
const STARTING = 5;

const { values } = parseArgs({
	options: {
		sessions: { type: 'string', default: '2000' },
		minutes: { type: 'string', default: '7' },
		rate: { type: 'string', default: '50' },
	},
});

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const home = await mkdtemp(join(tmpdir(), 'n8n-sessions-'));
	await installPackage(home);
	const simulator = await startSimulator({ dialect: dialects.plain, keepBodies: false });
	const inspected = await freePort();
	const env = { ...LAZY_EXPRESSIONS, NODE_OPTIONS: `--inspect=127.0.0.1:${inspected}` };
	const server = await N8nServer.start({ host, home, env });
	const vitals = await VitalsReader.of(server, inspected);
	try {
		const all = Array.from(
			{ length: Number(values.sessions) },
			() => simulator.sessions.create().sessionId,
		);
		const before = await vitals.read();
		const half = all.length / 2;
		const startedAt = Date.now();
		const types = { eventTypes: ['nudge_sent'] };
		const workflows = [
			await listenTo(server, simulator, all.slice(0, half), types),
			await listenTo(server, simulator, all.slice(half), types),
		];
		const connectedInS = Math.round((Date.now() - startedAt) / 1_000);
		const connected = await vitals.read();
		const tokensBefore = tokens(simulator);
		const sent = await sendEvents(simulator, all, Number(values.minutes) * 60_000);
		await allConnected(simulator, all);
		const stored = [];
		for (const workflow of workflows) stored.push(...(await settled(server, workflow, [])));
		const after = await vitals.read();
		const { lost, duplicates, byStatus } = evaluate(sent, stored);
		console.log({
			sessions: all.length,
			connected_in_s: connectedInS,
			renewed: tokens(simulator) - tokensBefore,
			starting_events: sent.length,
			lost: lost.length,
			duplicates: duplicates.length,
			byStatus,
			heap_kb_per_session: ((connected.heap_mb - before.heap_mb) * 1_024) / all.length,
			rss_kb_per_session: ((connected.rss_mb - before.rss_mb) * 1_024) / all.length,
			heap_growth_mb: after.heap_mb - connected.heap_mb,
		});
		if (lost.length + duplicates.length > 0) process.exitCode = 1;
	} finally {
		vitals.close();
		await server.stop();
		await simulator.stop();
		await rm(home, { recursive: true, force: true });
	}
}

/** Each renewal of a connection needs a token. */
function tokens({ requests }: Simulator): number {
	return requests.filter(({ path }) => path.endsWith('/ws_token')).length;
}

/** @returns the events that start the workflow */
async function sendEvents({ sessions }: Simulator, all: string[], ms: number): Promise<string[]> {
	const sent: string[] = [];
	const startedAt = Date.now();
	for (let nth = 0; Date.now() - startedAt < ms; nth++) {
		const session = all[(nth * 7) % all.length] ?? '';
		if (nth % STARTING === 0) sent.push(sessions.nudge(session, nth));
		else sessions.autoResume(session, nth);
		await sleep(Math.max(0, startedAt + (nth * 1_000) / Number(values.rate) - Date.now()));
	}
	return sent;
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
