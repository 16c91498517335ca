/** Redis and PostgreSQL for n8n's queue mode, from packages of this machine (Debian: redis-server, postgresql). */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './ports';
import { until } from './until';

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

const USER = 'n8n';
const HOST = '127.0.0.1';

class Postgres {
	private constructor(
		readonly port: number,
		private readonly child: ChildProcess,
	) {}

	/** Stores its data in this folder. It doesn't run as root, so if we are root, its own user runs it. */
	static async start(home: string): Promise<Postgres> {
		const data = join(home, 'postgres');
		mkdirSync(data);
		chmodSync(home, 0o755);
		const asRoot = process.getuid?.() === 0;
		if (asRoot) execFileSync('chown', ['postgres', data]);
		const [command, prefix] = asRoot ? ['runuser', ['-u', 'postgres', '--']] : ['env', []];
		const cluster = [...prefix, bin('initdb'), '-D', data, '-U', USER, '-A', 'trust'];
		execFileSync(command, cluster, { stdio: 'ignore' });
		const port = await freePort();
		const args = ['-D', data, '-p', String(port), '-k', data, '-h', HOST];
		const postgres = [...prefix, bin('postgres'), ...args];
		const server = new Postgres(port, startStore(home, command, postgres, 'postgres.log'));
		await until('PostgreSQL', async () => {
			execFileSync(bin('createdb'), [...server.connectionArgs, USER], { stdio: 'ignore' });
			return Promise.resolve(true);
		});
		return server;
	}

	/** n8n's settings of its own database. */
	get environment(): Record<string, string> {
		return {
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: HOST,
			DB_POSTGRESDB_PORT: String(this.port),
			DB_POSTGRESDB_DATABASE: USER,
			DB_POSTGRESDB_USER: USER,
		};
	}

	/** Runs an SQL query. Returns an array of rows. */
	query(query: string): unknown {
		const wrapped = `select coalesce(json_agg(rows), '[]') from (${query}) rows`;
		const args = [...this.connectionArgs, '-d', USER, '-At', '-c', wrapped];
		return JSON.parse(execFileSync(bin('psql'), args, { encoding: 'utf8', maxBuffer: 1e9 }));
	}

	async stop(): Promise<void> {
		await stopStore(this.child);
	}

	private get connectionArgs(): string[] {
		return ['-h', HOST, '-p', String(this.port), '-U', USER];
	}
}

/** A program of the newest installed PostgreSQL. */
function bin(name: string): string {
	const versions = readdirSync('/usr/lib/postgresql').sort();
	return join('/usr/lib/postgresql', versions.at(-1) ?? '', 'bin', name);
}

/** Starts a server that writes its log to this folder and ends with this process. */
function startStore(home: string, command: string, args: string[], log: string): ChildProcess {
	const file = openSync(join(home, log), 'a');
	const child = spawn(command, args, { stdio: ['ignore', file, file] });
	closeSync(file);
	const end = () => child.kill('SIGTERM');
	process.once('exit', end);
	child.once('exit', () => process.off('exit', end));
	return child;
}

async function stopStore(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const exited = once(child, 'exit');
	child.kill('SIGTERM');
	await exited;
}
