import { hostFolder } from '../n8n/host';
import { newHome, removeHome } from '../n8n/package-install';
import { N8nServer, NO_PAGES } from '../n8n/server';

/** An n8n that a test may stop and kill, with the packed package and its own folder, and without pages for a browser. */
export async function startServer(env: Record<string, string> = {}): Promise<N8nServer> {
	const home = await newHome();
	return await N8nServer.start({ host: hostFolder(), home, env: { ...NO_PAGES, ...env } });
}

export async function removeServer(server: N8nServer): Promise<void> {
	await server.stop();
	await removeHome(server.home);
}
