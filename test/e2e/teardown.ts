import { removeHome } from '../n8n/package-install';
import { externalN8n } from '../n8n/external';
import { published } from './shared';

export default async function teardown(): Promise<void> {
	for (const { server, folder, browser } of published()) {
		await browser?.close();
		await server.stop();
		if (server !== externalN8n && folder !== undefined) await removeHome(folder.home);
	}
}
