/** Redis and PostgreSQL for n8n's queue mode, from packages of this machine (Debian: redis-server, postgresql). */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './ports';
import { until } from './until';

const USER = 'n8n';

export class QueueStores {
	private readonly children: ChildProcess[] = [];

	private constructor(
		private readonly home: string,
		private readonly redis: number,
		private readonly postgres: number,
	) {}

	/** Both store their data in this folder. */
	static async start(home: string): Promise<QueueStores> {
		const stores = new QueueStores(home, await freePort(), await freePort());
		stores.startRedis();
		await stores.startPostgres();
		return stores;
	}

	/** Environment variables for each n8n process. */
	get environment(): Record<string, string> {
		return {
			EXECUTIONS_MODE: 'queue',
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(this.redis),
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(this.postgres),
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
		for (const child of this.children.reverse()) {
			if (child.exitCode !== null || child.signalCode !== null) continue;
			const exited = once(child, 'exit');
			child.kill('SIGTERM');
			await exited;
		}
	}

	private get connectionArgs(): string[] {
		return ['-h', '127.0.0.1', '-p', String(this.postgres), '-U', USER];
	}

	private startRedis(): void {
		const args = ['--port', String(this.redis), '--bind', '127.0.0.1', '--save', ''];
		this.spawn('redis-server', [...args, '--dir', this.home], 'redis.log');
	}

	/** PostgreSQL doesn't run as root. If we are root, its own user runs it. */
	private async startPostgres(): Promise<void> {
		const data = join(this.home, 'postgres');
		mkdirSync(data);
		chmodSync(this.home, 0o755);
		const asRoot = process.getuid?.() === 0;
		if (asRoot) execFileSync('chown', ['postgres', data]);
		const [command, prefix] = asRoot ? ['runuser', ['-u', 'postgres', '--']] : ['env', []];
		execFileSync(command, [...prefix, bin('initdb'), '-D', data, '-U', USER, '-A', 'trust']);
		const args = ['-D', data, '-p', String(this.postgres), '-k', data, '-h', '127.0.0.1'];
		this.spawn(command, [...prefix, bin('postgres'), ...args], 'postgres.log');
		await until('PostgreSQL', async () => {
			execFileSync(bin('createdb'), [...this.connectionArgs, USER], { stdio: 'ignore' });
			return Promise.resolve(true);
		});
	}

	private spawn(command: string, args: string[], log: string): void {
		const file = openSync(join(this.home, log), 'a');
		const child = spawn(command, args, { stdio: ['ignore', file, file] });
		closeSync(file);
		this.children.push(child);
		const end = () => child.kill('SIGTERM');
		process.once('exit', end);
		child.once('exit', () => process.off('exit', end));
	}
}

/** A program of the newest installed PostgreSQL. */
function bin(name: string): string {
	const versions = readdirSync('/usr/lib/postgresql').sort();
	return join('/usr/lib/postgresql', versions.at(-1) ?? '', 'bin', name);
}
