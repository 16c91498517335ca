import { execFileSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { N8nDriver } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { installPackage, projectFolder } from '../n8n/package-install';
import { N8nServer } from '../n8n/server';
import { prepareProxy } from '../n8n/thirdParties';
import { publish } from './shared';

/** One n8n with the packed package for the whole run; tests that kill a server boot their own. */
export default async function setup(): Promise<void> {
	// A stopped run takes its n8n along: ending by exit, not by the signal, lets that happen.
	for (const signal of ['SIGINT', 'SIGTERM'] as const)
		process.once(signal, () => process.exit(130));
	const host = await installHost(console.log);
	execFileSync('npm', ['run', '--silent', 'build'], { cwd: projectFolder, stdio: 'inherit' });
	const home = await mkdtemp(join(tmpdir(), 'n8n-e2e-'));
	await installPackage(home);
	const { place, env } = await prepareProxy(home);
	const server = await N8nServer.start({ host, home, env });
	// Signed in here, once: what a test file writes to the environment reaches no other file.
	await N8nDriver.signIn(server.baseUrl);
	publish(server, host, place);
}
