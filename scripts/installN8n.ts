/** Installs the n8n of the tests and starts it once, so that they don't wait until it's downloaded and compiled. */
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { installHost } from '../test/n8n/host';
import { firstSettings } from '../test/n8n/package-install';
import { N8nServer } from '../test/n8n/server';

async function install(): Promise<void> {
	const host = await installHost(console.log);
	if (existsSync(firstSettings(host))) return;
	const home = await mkdtemp(join(host, '.first-start-'));
	const server = await N8nServer.start({ host, home });
	// At its end, Node.js stores the compiled code.
	await server.stop();
	await rename(join(home, '.n8n'), firstSettings(host));
	await rm(home, { recursive: true });
}

void install();
