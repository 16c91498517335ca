import { freePort } from './ports';
import { QueueStores } from './queueStores';
import { N8nServer, type N8nOptions } from './server';
import { until } from './until';

/** n8n in queue mode: a main process, and any number of workers and webhook processes. */
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
		const started: N8nServer[] = [];
		try {
			const webhookPort = await freePort();
			const env = {
				...stores.environment,
				WEBHOOK_URL: `http://127.0.0.1:${webhookPort}/`,
				...options.env,
			};
			const startServer = async (role: N8nOptions['role'], port?: number) => {
				const server = await N8nServer.start({ ...options, env, role, ...(port && { port }) });
				started.push(server);
				return server;
			};
			// The main process creates the database that the others need.
			const main = await startServer('start');
			const workers = Array.from(
				{ length: count.workers },
				async () => await startServer('worker'),
			);
			const webhooks = Array.from(
				{ length: count.webhooks },
				async (_, index) => await startServer('webhook', index === 0 ? webhookPort : undefined),
			);
			return new QueueMode(stores, main, await Promise.all(workers), await Promise.all(webhooks));
		} catch (error) {
			await stopAll(started, stores);
			throw error;
		}
	}

	/** Waits until each execution has ended or n8n has marked it as ended. Prints an error after the time limit. */
	async untilExecutionsEnd(timeout: number): Promise<void> {
		const open = `select id from execution_entity where status in ('new', 'running', 'waiting')`;
		const haveEnded = () => JSON.stringify(this.stores.query(open)) === '[]';
		await until('the executions to end', haveEnded, { timeout, every: 2_000 }).catch(console.error);
	}

	async stop(): Promise<void> {
		await stopAll([...this.webhooks, ...this.workers, this.main], this.stores);
	}
}

/** Stops the stores last, because n8n processes log errors without their database. */
async function stopAll(servers: readonly N8nServer[], stores: QueueStores): Promise<void> {
	await Promise.all(servers.map(async (server) => await server.stop()));
	await stores.stop();
}
