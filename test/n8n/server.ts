import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endGroup, tail } from './command';
import { freePort } from './ports';
import { UnrecoverableError, until } from './until';

/**
 * Recommended by docs/instance-setup.md for many deliveries. Without it, an n8n that is busy for 5 seconds treats its
 * database as disconnected, and responds to every request with 503 before it reaches a node.
 */
export const LONG_PING_TIMEOUT = { DB_PING_TIMEOUT_MS: '60000' };

/**
 * Recommended by docs/instance-setup.md for many deliveries. Without it, n8n prepares its expression engine twice for each
 * request to a webhook other than its own Webhook node's.
 */
export const LAZY_EXPRESSIONS = {
	N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
	N8N_EXPRESSION_ENGINE_COMPILE_CACHE: 'true',
};

/** Also recommended. n8n prepares its expression engines in other threads. */
export const EXPRESSION_ENGINE = { ...LAZY_EXPRESSIONS, N8N_EXPRESSION_ENGINE_POOL_SIZE: '10' };

/** Without the pages of the editor, n8n starts in two thirds of the time. */
export const NO_PAGES = { N8N_DISABLE_UI: 'true' };

const MAX_STARTS = 3;

export interface N8nOptions {
	/** Folder of the n8n installation. */
	host: string;
	/** Folder with the database, log, installed packages, and files. */
	home: string;
	/** Default: a free port. */
	port?: number;
	/** Default: the main process. Queue mode has the others. */
	role?: 'start' | 'worker' | 'webhook';
	env?: Record<string, string>;
}

/** A running n8n, started here or elsewhere. */
export interface RunningN8n {
	readonly baseUrl: string;
	stop: () => Promise<void>;
	/** Resolves when the process ends for any reason. */
	ended: () => Promise<void>;
}

/** Where n8n keeps what on this machine. */
export function placesIn(home: string) {
	return {
		home,
		log: join(home, 'n8n.log'),
		/** The only folder from which workflows may read files. */
		files: join(home, '.n8n-files'),
	};
}

/** The settings of every n8n of the tests. */
export function settingsFor(home: string, port: number): Record<string, string> {
	return {
		N8N_USER_FOLDER: home,
		N8N_ENCRYPTION_KEY: 'a-key-for-tests',
		N8N_PORT: String(port),
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_SECURE_COOKIE: 'false',
		N8N_RESTRICT_FILE_ACCESS_TO: placesIn(home).files,
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
	};
}

/** While n8n starts, it responds to every request with plain text, and then with 503 until its database is ready. */
export async function isReady(baseUrl: string): Promise<boolean> {
	// Another process may listen on this port and never respond.
	const signal = AbortSignal.timeout(10_000);
	const { status, headers } = await fetch(`${baseUrl}/rest/login`, { signal });
	return status < 500 && headers.get('content-type')?.includes('json') === true;
}

/** A real n8n process on 127.0.0.1. Keeps its ports and folder when it restarts. */
export class N8nServer implements RunningN8n {
	private child: ChildProcess | undefined;

	readonly baseUrl: string;
	readonly home: string;
	readonly log: string;
	readonly files: string;

	private constructor(
		private readonly options: N8nOptions,
		private readonly port: number,
		private readonly brokerPort: number,
	) {
		this.baseUrl = `http://127.0.0.1:${port}`;
		this.home = options.home;
		const isMain = this.role === 'start';
		const { log, files } = placesIn(options.home);
		this.log = isMain ? log : join(options.home, `${this.role}-${port}.log`);
		this.files = files;
	}

	static async start(options: N8nOptions): Promise<N8nServer> {
		for (let attempt = 1; ; attempt++) {
			const server = new N8nServer(options, options.port ?? (await freePort()), await freePort());
			try {
				await server.boot();
				return server;
			} catch (error) {
				// Another process can take a port before n8n does.
				const isTaken = tail(server.log).includes('already in use');
				if (!isTaken || options.port !== undefined || attempt === MAX_STARTS) throw error;
			}
		}
	}

	/** Starts the process. Works again after `stop` or `kill`, with the same folder and port. */
	async boot(): Promise<void> {
		mkdirSync(this.files, { recursive: true });
		// If n8n was killed, it would wait 10 seconds because of this file.
		rmSync(join(this.home, '.n8n', 'crash.journal'), { force: true });
		const log = openSync(this.log, 'a');
		const child = spawn(
			process.execPath,
			[join(this.options.host, 'node_modules/n8n/bin/n8n'), this.role],
			{
				cwd: this.home,
				env: this.environment(),
				stdio: ['ignore', log, log],
				// Its own process group, so that its task runner ends with it.
				detached: true,
			},
		);
		closeSync(log);
		this.child = child;
		process.once('exit', this.killNow);
		child.once('exit', () => process.off('exit', this.killNow));
		await until('n8n to respond', async () => await this.isReady(child), {
			timeout: 120_000,
		}).catch(async (error: unknown) => {
			await this.kill();
			throw error;
		});
	}

	private get role() {
		return this.options.role ?? 'start';
	}

	/** Process id, for measuring. */
	get pid(): number {
		if (this.child?.pid === undefined) throw new Error('n8n is not running');
		return this.child.pid;
	}

	get running(): boolean {
		return this.child !== undefined && isRunning(this.child);
	}

	async ended(): Promise<void> {
		const child = this.child;
		if (child && isRunning(child)) await new Promise((resolve) => child.once('exit', resolve));
	}

	async stop(): Promise<void> {
		await this.end('SIGTERM');
	}

	/** Ends the process like a power cut: it writes nothing more. */
	async kill(): Promise<void> {
		await this.end('SIGKILL');
	}

	private async isReady(child: ChildProcess): Promise<boolean> {
		if (!isRunning(child))
			throw new UnrecoverableError(`n8n ended while starting:\n${tail(this.log)}`);
		if (this.role === 'start') return await isReady(this.baseUrl);
		return (await fetch(`${this.baseUrl}/healthz`, { signal: AbortSignal.timeout(10_000) })).ok;
	}

	private async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
		const ended = this.ended();
		if (signal === 'SIGKILL') this.killNow();
		else this.child?.kill(signal);
		const timer = setTimeout(this.killNow, 40_000);
		await ended;
		clearTimeout(timer);
		// Ends child processes that n8n left behind.
		this.killNow();
		this.child = undefined;
	}

	private readonly killNow = () => {
		if (this.child) endGroup(this.child, 'SIGKILL');
	};

	private environment(): NodeJS.ProcessEnv {
		// Removes n8n settings of the caller and of the test runner.
		const inherited = Object.entries(process.env).filter(
			([name]) => !/^(N8N_|EXECUTIONS_|QUEUE_|DB_|JEST_|NODE_OPTIONS$)/.test(name),
		);
		return {
			...Object.fromEntries(inherited),
			NODE_ENV: 'production',
			// n8n starts in two thirds of the time if its code was compiled by an earlier start.
			NODE_COMPILE_CACHE: join(this.options.host, '.compiled'),
			...settingsFor(this.home, this.port),
			N8N_RUNNERS_BROKER_PORT: String(this.brokerPort),
			...(this.role === 'worker' && {
				QUEUE_HEALTH_CHECK_ACTIVE: 'true',
				QUEUE_HEALTH_CHECK_PORT: String(this.port),
				N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
			}),
			...this.options.env,
		};
	}
}

function isRunning(child: ChildProcess): boolean {
	return child.exitCode === null && child.signalCode === null;
}
