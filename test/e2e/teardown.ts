import { removeHome } from '../n8n/package-install';
import { externalN8n } from '../n8n/external';
import { published } from './shared';

export default async function teardown(): Promise<void> {
	for (const { server, folder } of published()) {
		await server.stop();
		if (server !== externalN8n && folder !== undefined) await removeHome(folder.home);
	}
}
