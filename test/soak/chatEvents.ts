/** Sends 2,000 chat events in 20 sessions while n8n is killed three times. Prints lost and duplicate events. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript } from '../n8n/command';
import { installHost } from '../n8n/host';
import { installPackage } from '../n8n/package-install';
import { N8nServer } from '../n8n/server';
import { dialects, startSimulator } from '../simulator';
import { storm } from './storm';

async function main(): Promise<void> {
	const host = await installHost(console.log);
	const home = await mkdtemp(join(tmpdir(), 'n8n-soak-'));
	await installPackage(home);
	const simulator = await startSimulator({
		dialect: dialects.plain,
		// Longer than n8n needs to start on a busy machine, because older events are lost.
		replayWindowMs: 900_000,
		replayMaxEvents: 5_000,
	});
	const server = await N8nServer.start({ host, home });
	try {
		const plan = { events: 2_000, sessions: 20, kills: 3, perSecond: 60 };
		const { lost, duplicates, ...result } = await storm(server, simulator, plan);
		console.log({ ...plan, ...result, lost: lost.length, duplicates: duplicates.length });
		if (lost.length + duplicates.length > 0) process.exitCode = 1;
	} finally {
		await server.stop();
		await simulator.stop();
		await rm(home, { recursive: true, force: true });
	}
}

runScript(main);
