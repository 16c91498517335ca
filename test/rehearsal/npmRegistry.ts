/** A local npm registry (Verdaccio), installed once in the cache folder, so that `npm ci` stays small. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { run } from '../n8n/command';
import { cacheFolder } from '../n8n/host';
import { freePort } from '../n8n/ports';
import { startStore, stopStore } from '../n8n/storeProcess';
import { until } from '../n8n/until';

const VERSION = '6.10.4';
const MANIFEST = {
	private: true,
	dependencies: { verdaccio: VERSION },
	// Verdaccio asks for a tag of this package, which not every registry has.
	overrides: { 'node-fetch': '2.6.7' },
};

export class NpmRegistry {
	private constructor(
		private readonly child: ChildProcess,
		readonly url: string,
	) {}

	static async start(folder: string): Promise<NpmRegistry> {
		const installation = await install();
		const port = await freePort();
		const config = join(folder, 'registry.json');
		await mkdir(folder, { recursive: true });
		await writeFile(config, JSON.stringify(settings(folder)));
		const verdaccio = join(installation, 'node_modules/verdaccio/bin/verdaccio');
		const args = [verdaccio, '--config', config, '--listen', `127.0.0.1:${port}`];
		const child = startStore(folder, process.execPath, args, 'registry.log');
		const registry = new NpmRegistry(child, `http://127.0.0.1:${port}`);
		await until('the registry', async () => (await fetch(`${registry.url}/-/ping`)).ok);
		return registry;
	}

	/** Signs a publisher up. Returns the token. */
	async signUp(): Promise<string> {
		const response = await fetch(`${this.url}/-/user/org.couchdb.user:publisher`, {
			method: 'PUT',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ name: 'publisher', password: 'a-password-for-tests' }),
		});
		return z.object({ token: z.string() }).parse(await response.json()).token;
	}

	async stop(): Promise<void> {
		await stopStore(this.child);
	}
}

/** Knows only what is published to it, and asks no other registry. */
function settings(folder: string) {
	return {
		storage: join(folder, 'storage'),
		auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: 1 } },
		packages: { '**': { access: '$all', publish: '$authenticated' } },
		uplinks: {},
		log: { type: 'stdout', format: 'json', level: 'http' },
	};
}

async function install(): Promise<string> {
	const target = join(cacheFolder(), `verdaccio-${VERSION}`);
	if (existsSync(target)) return target;
	const partial = `${target}.partial`;
	await rm(partial, { recursive: true, force: true });
	await mkdir(partial, { recursive: true });
	await writeFile(join(partial, 'package.json'), JSON.stringify(MANIFEST));
	const quiet = ['--no-audit', '--no-fund', '--ignore-scripts'];
	await run('npm', ['install', ...quiet], { cwd: partial, log: join(partial, 'log') });
	// Rename last, so that the final name means a finished installation.
	await rename(partial, target);
	return target;
}
