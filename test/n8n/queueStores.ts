/** Redis and PostgreSQL for n8n's queue mode, from packages of this machine (Debian: redis-server, postgresql). */
import type { ChildProcess } from 'node:child_process';
import { freePort } from './ports';
import { Postgres } from './postgres';
import { startStore, stopStore } from './storeProcess';

export class QueueStores {
	private constructor(
		private readonly redis: ChildProcess,
		private readonly redisPort: number,
		private readonly postgres: Postgres,
	) {}

	/** Both store their data in this folder. */
	static async start(home: string): Promise<QueueStores> {
		const port = await freePort();
		const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', home];
		const redis = startStore(home, 'redis-server', args, 'redis.log');
		return new QueueStores(redis, port, await Postgres.start(home));
	}

	/** Environment variables for each n8n process. */
	get environment(): Record<string, string> {
		return {
			EXECUTIONS_MODE: 'queue',
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(this.redisPort),
			...this.postgres.environment,
		};
	}

	/** Runs an SQL query. Returns an array of rows. */
	query(query: string): unknown {
		return this.postgres.query(query);
	}

	async stop(): Promise<void> {
		await this.postgres.stop();
		await stopStore(this.redis);
	}
}
