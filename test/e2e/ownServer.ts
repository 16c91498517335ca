import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '../n8n/package-install';
import { N8nServer } from '../n8n/server';
import { sharedN8n } from './shared';

/** An n8n that a test may stop and kill, with the packed package and its own folder. */
export async function startServer(env: Record<string, string> = {}): Promise<N8nServer> {
	const home = await mkdtemp(join(tmpdir(), 'n8n-own-'));
	await installPackage(home);
	return await N8nServer.start({ host: sharedN8n().host, home, env });
}

export async function removeServer(server: N8nServer): Promise<void> {
	await server.stop();
	await rm(server.home, { recursive: true, force: true });
}
