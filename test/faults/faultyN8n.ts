import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { installHost } from '../n8n/host';
import { installPackage } from '../n8n/package-install';
import { Postgres } from '../n8n/postgres';
import { N8nServer } from '../n8n/server';

/** Debian's path. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** Enough for n8n with the package, and full quickly. */
const DISK_MB = 300;

type Environment = Record<string, string>;

/** An n8n with the packed package whose database, disk, or clock can fail. */
export class FaultyN8n {
	private constructor(
		readonly server: N8nServer,
		private readonly ends: ReadonlyArray<() => Promise<void> | void>,
		readonly postgres?: Postgres,
	) {}

	/** @param kind SQLite on a disk of its own, PostgreSQL, or SQLite and a clock of its own */
	static async start(kind: 'sqlite' | 'postgres' | 'clock'): Promise<FaultyN8n> {
		const host = await installHost(console.log);
		const home = await mkdtemp(join(tmpdir(), 'n8n-faults-'));
		const ends: Array<() => Promise<void> | void> = [
			async () => await rm(home, { recursive: true, force: true }),
		];
		if (kind === 'sqlite') {
			asRoot('mount', '-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=0777`, 'tmpfs', home);
			ends.unshift(() => asRoot('umount', '-l', home));
		}
		await installPackage(home);
		const postgres = kind === 'postgres' ? await Postgres.start(home) : undefined;
		if (postgres !== undefined) ends.unshift(async () => await postgres.stop());
		const clock = join(home, 'clock');
		await writeFile(clock, '+0');
		const env: Environment = {
			...postgres?.environment,
			...(kind === 'clock' && {
				LD_PRELOAD: FAKETIME,
				FAKETIME_TIMESTAMP_FILE: clock,
				FAKETIME_NO_CACHE: '1',
				FAKETIME_DONT_FAKE_MONOTONIC: '1',
			}),
		};
		const server = await N8nServer.start({ host, home, env });
		return new FaultyN8n(server, [async () => await server.stop(), ...ends], postgres);
	}

	/** Another process locks n8n's database for writing. */
	async lockDatabase(ms: number): Promise<void> {
		const database = new DatabaseSync(join(this.server.home, '.n8n', 'database.sqlite'));
		database.exec('BEGIN IMMEDIATE');
		await sleep(ms);
		database.exec('ROLLBACK');
		database.close();
	}

	/** The disk of n8n's database, log, and files is full. */
	async fillDisk(ms: number): Promise<void> {
		const filler = join(this.server.home, 'filler');
		const end = performance.now() + ms;
		const fill = async (bytes: number) => {
			for (;;) await writeFile(filler, Buffer.alloc(bytes), { flag: 'a' });
		};
		// Again and again, because n8n deletes files and truncates its database's log.
		while (performance.now() < end) {
			await fill(1_000_000).catch(() => {});
			await fill(1_000).catch(() => {});
			await sleep(50);
		}
		await rm(filler);
	}

	/** @param offset such as `-1h` */
	async setClock(offset: string): Promise<void> {
		await writeFile(join(this.server.home, 'clock'), offset);
	}

	/** Milliseconds that n8n's clock is ahead. */
	async clockOffset(): Promise<number> {
		const { headers } = await fetch(this.server.baseUrl);
		return Date.parse(headers.get('date') ?? '') - Date.now();
	}

	async stop(): Promise<void> {
		for (const end of this.ends) await end();
	}
}

function asRoot(program: string, ...args: string[]): void {
	if (process.getuid?.() === 0) execFileSync(program, args);
	else execFileSync('sudo', [program, ...args]);
}
