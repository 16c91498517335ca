import { rm } from 'node:fs/promises';
import { published } from './shared';

export default async function teardown(): Promise<void> {
	for (const { server, browser } of published()) {
		await browser?.close();
		await server.stop();
		await rm(server.home, { recursive: true, force: true });
	}
}
