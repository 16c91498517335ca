import { freePort } from './ports';
import { QueueStores } from './queueStores';
import { N8nServer, type N8nOptions } from './server';

/** n8n in queue mode: a main process, and workers and webhook processes as many as asked for. */
export class QueueMode {
	private constructor(
		readonly stores: QueueStores,
		readonly main: N8nServer,
		readonly workers: readonly N8nServer[],
		readonly webhooks: readonly N8nServer[],
	) {}

	static async start(
		options: Pick<N8nOptions, 'host' | 'home' | 'env'>,
		count: { workers: number; webhooks: number },
	): Promise<QueueMode> {
		const stores = await QueueStores.start(options.home);
		const begun: N8nServer[] = [];
		try {
			const first = await freePort();
			const env = {
				...stores.environment,
				WEBHOOK_URL: `http://127.0.0.1:${first}/`,
				...options.env,
			};
			const begin = async (role: N8nOptions['role'], port?: number) => {
				const server = await N8nServer.start({ ...options, env, role, ...(port && { port }) });
				begun.push(server);
				return server;
			};
			// It makes the database that the others expect.
			const main = await begin('start');
			const workers = Array.from({ length: count.workers }, async () => await begin('worker'));
			const webhooks = Array.from(
				{ length: count.webhooks },
				async (_, index) => await begin('webhook', index === 0 ? first : undefined),
			);
			return new QueueMode(stores, main, await Promise.all(workers), await Promise.all(webhooks));
		} catch (error) {
			await stopAll(begun, stores);
			throw error;
		}
	}

	async stop(): Promise<void> {
		await stopAll([...this.webhooks, ...this.workers, this.main], this.stores);
	}
}

/** Processes that lose their database end in noise, so that it goes last. */
async function stopAll(servers: readonly N8nServer[], stores: QueueStores): Promise<void> {
	await Promise.all(servers.map(async (server) => await server.stop()));
	await stores.stop();
}
