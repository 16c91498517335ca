import type { N8nServer } from '../n8n/server';
import { fullList } from './killed/fullList';
import { retries } from './killed/retries';
import { waits } from './killed/waits';
import { removeServer, startServer } from './ownServer';

/** Starts its own n8n, which is killed once, in the middle of everything, because starting takes long. */
describe('after n8n was killed', () => {
	let server: N8nServer;
	// Older versions of n8n don't have the agents of the retries.
	const parts =
		process.env.N8N_HOST_VERSION === undefined ? [waits(), retries(), fullList()] : [waits()];

	beforeAll(async () => {
		server = await startServer();
		for (const { arrange } of parts) await arrange(server);
		for (const { beforeKill } of parts) await beforeKill?.();
		await server.kill();
		for (const { whileKilled } of parts) await whileKilled?.();
		await server.boot();
		for (const { afterKill } of parts) await afterKill();
	});
	afterAll(async () => {
		for (const { stop } of parts) await stop();
		await removeServer(server);
	});

	for (const { tests } of parts) tests();
});
