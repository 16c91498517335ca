/** Installs the n8n of the tests and starts it once, so that they don't wait until it's downloaded and compiled. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installHost } from '../test/n8n/host';
import { N8nServer } from '../test/n8n/server';

async function install(): Promise<void> {
	const host = await installHost(console.log);
	const home = await mkdtemp(join(tmpdir(), 'n8n-first-start-'));
	const server = await N8nServer.start({ host, home });
	// At its end, Node.js stores the compiled code.
	await server.stop();
	await rm(home, { recursive: true });
}

void install();
