/**
 * `npm run long -- sessions [--sessions 2000 --minutes 7 --rate 50 --work 2]`: two Chat Events Triggers in one n8n follow
 * 2,000 sessions with 50 events per second, of which 10 start the workflow, until each connection was renewed. Each execution
 * waits for `--work` seconds. Fails if an event is lost or starts two executions. `--save` stores the figures in
 * results.json.
 */
import { parseArgs } from 'node:util';
import { runScript } from '../n8n/command';
import { installHost, n8nVersion } from '../n8n/host';
import { atPace } from '../n8n/pace';
import { newHome, removeHome } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { EXPRESSION_ENGINE, N8nServer } from '../n8n/server';
import { waitNode } from '../n8n/workflow';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { saveResults } from './results';
import { allConnected, evaluate, listenTo, settled } from './chatEvents';
import { VitalsReader } from './vitals';

/** One event in this many starts the workflow. */
const STARTING = 5;

const { values } = parseArgs({
	options: {
		sessions: { type: 'string', default: '2000' },
		minutes: { type: 'string', default: '7' },
		rate: { type: 'string', default: '50' },
		work: { type: 'string', default: '2' },
		save: { type: 'boolean', default: false },
	},
});

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const home = await newHome();
	const simulator = await startSimulator({ dialect: dialects.plain, keepBodies: false });
	const inspected = await freePort();
	const env = { ...EXPRESSION_ENGINE, NODE_OPTIONS: `--inspect=127.0.0.1:${inspected}` };
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
		const work = waitNode(Number(values.work));
		const workflows = [
			await listenTo(server, simulator, all.slice(0, half), types, work),
			await listenTo(server, simulator, all.slice(half), types, work),
		];
		const connectedInS = Math.round((Date.now() - startedAt) / 1_000);
		const connected = await vitals.read();
		const tokensBefore = tokens(simulator);
		const sent = await sendEvents(simulator, all);
		await allConnected(simulator, all);
		const stored = [];
		for (const workflow of workflows) stored.push(...(await settled(server, workflow, [])));
		const after = await vitals.read();
		const { lost, duplicates, byStatus } = evaluate(sent, stored);
		const kbEach = (mb: number) => Math.round((mb * 1_024) / all.length);
		const figures = {
			sessions: all.length,
			minutes: Number(values.minutes),
			events_per_second: Number(values.rate),
			seconds_per_execution: Number(values.work),
			connected_in_s: connectedInS,
			renewed: tokens(simulator) - tokensBefore,
			starting_events: sent.length,
			lost: lost.length,
			started_twice: duplicates.length,
			by_status: byStatus,
			heap_kb_per_session: kbEach(connected.heap_mb - before.heap_mb),
			rss_kb_per_session: kbEach(connected.rss_mb - before.rss_mb),
			heap_growth_mb: Math.round(after.heap_mb - connected.heap_mb),
		};
		console.log(figures);
		if (values.save)
			await saveResults('sessions', { n8n: n8nVersion, node: process.version, ...figures });
		if (lost.length + duplicates.length > 0) process.exitCode = 1;
	} finally {
		vitals.close();
		await server.stop();
		await simulator.stop();
		await removeHome(home);
	}
}

/** Each renewal of a connection needs a token. */
function tokens({ requests }: Simulator): number {
	return requests.filter(({ path }) => path.endsWith('/ws_token')).length;
}

/** @returns the events that start the workflow */
async function sendEvents({ sessions }: Simulator, all: string[]): Promise<string[]> {
	const sent: string[] = [];
	const perMinute = Number(values.rate) * 60;
	await atPace(Number(values.minutes) * perMinute, 60_000 / perMinute, (nth) => {
		const session = all[(nth * 7) % all.length] ?? '';
		if (nth % STARTING === 0) sent.push(sessions.nudge(session, nth));
		else sessions.autoResume(session, nth);
	});
	return sent;
}

runScript(main);
