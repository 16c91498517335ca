/** Installs a real n8n once, in a cache folder outside the checkout. Later runs reuse it. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { run } from './command';
import { UnrecoverableError, until } from './until';

const manifestSchema = z.object({
	dependencies: z.object({ n8n: z.string(), sqlite3: z.string() }).catchall(z.string()),
	overrides: z.record(z.string()),
});
/** Older versions to test with: the packages that each needs in addition, because npm hoists other versions, and the tests to skip. */
export const olderVersions = z
	.record(z.object({ extraPackages: z.record(z.string()), skippedTests: z.array(z.string()) }))
	.parse(JSON.parse(readFileSync(join(__dirname, 'older.json'), 'utf8')));
const manifestText = readManifest(process.env.N8N_HOST_VERSION);
const manifest = manifestSchema.parse(JSON.parse(manifestText));
const BUN = join(__dirname, '..', '..', 'node_modules', '.bin', 'bun');

export const n8nVersion = manifest.dependencies.n8n;

/** The package.json of the installation. `version` selects an older n8n. */
function readManifest(version?: string): string {
	const text = readFileSync(join(__dirname, 'package.json'), 'utf8');
	const { dependencies, overrides } = manifestSchema.parse(JSON.parse(text));
	if (version === undefined || version === dependencies.n8n) return text;
	return JSON.stringify({
		private: true,
		dependencies: { ...dependencies, n8n: version, ...olderVersions[version]?.extraPackages },
		// Older n8n versions download this package from its author's website. No test reads a workbook.
		overrides: { ...overrides, xlsx: '0.18.5' },
	});
}

export function cacheFolder(): string {
	const base = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
	return join(base, 'n8n-nodes-voice-chat-agent');
}

/** The folder of the installation. It depends on the manifest, the Node version, and the machine type. */
export function hostFolder(): string {
	const key = createHash('sha256')
		.update(manifestText)
		.update([process.versions.modules, process.platform, process.arch].join(' '))
		.digest('hex')
		.slice(0, 8);
	return join(cacheFolder(), `n8n-${n8nVersion}-${key}`);
}

/** Installs n8n unless it's installed. Returns the folder. */
export async function installHost(report: (line: string) => void): Promise<string> {
	const target = hostFolder();
	if (existsSync(target)) return target;
	if (Number(process.versions.node.split('.')[0]) < 22) {
		throw new UnrecoverableError(
			`n8n ${n8nVersion} needs Node.js 22 or later, and this is Node.js ${process.versions.node}. ` +
				'Run `npm ci`, then start it through npm (for example `npm start`), which uses the right Node.js version.',
		);
	}
	await mkdir(cacheFolder(), { recursive: true });
	const unlock = await lock(`${target}.lock`, report);
	try {
		if (!existsSync(target)) await install(target, report);
	} finally {
		await unlock();
	}
	return target;
}

async function install(target: string, report: (line: string) => void): Promise<void> {
	const partial = `${target}.partial`;
	const log = `${target}.log`;
	await Promise.all([rm(partial, { recursive: true, force: true }), rm(log, { force: true })]);
	await mkdir(partial, { recursive: true });
	await writeFile(join(partial, 'package.json'), manifestText);
	const env = npmEnvironment();
	const started = Date.now();
	report(
		`Installing n8n ${n8nVersion} into ${target}. This happens once and takes about two minutes and 2 GB.`,
	);
	await requireNetwork(partial, log, env);
	await requireCompiler(partial, log, env);
	if ('xlsx' in manifest.overrides) {
		// Bun can't replace a dependency by its URL.
		const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'];
		await run('npm', ['install', ...options], { cwd: partial, log, env });
	} else {
		// A tenth of npm's time.
		await run(BUN, ['install', '--ignore-scripts', '--omit=peer', '--linker=hoisted'], {
			cwd: partial,
			log,
			env: { ...env, BUN_INSTALL_CACHE_DIR: join(cacheFolder(), 'packages') },
		});
	}
	report('Compiling the database driver (sqlite3)');
	// Compiled in half the time, and fast enough for tests.
	await run('npm', ['rebuild', 'sqlite3'], {
		cwd: partial,
		log,
		env: { ...env, CFLAGS: '-O1', CXXFLAGS: '-O1' },
	});
	// Rename last, so that the final name means a finished installation.
	await rename(partial, target);
	report(`n8n ${n8nVersion} is installed (${seconds(started)})`);
}

/** Makes npm and the compiler use the Node.js version that runs now. */
function npmEnvironment(): Record<string, string> {
	const node = dirname(realpathSync(process.execPath));
	const env: Record<string, string> = { PATH: `${node}:${process.env.PATH ?? ''}` };
	// The npm package of Node.js contains the headers, so compiling downloads nothing.
	const headers = join(node, '..', 'node_modules', `node-${process.platform}-${process.arch}`);
	if (existsSync(join(headers, 'include'))) env.npm_config_nodedir = headers;
	return env;
}

async function requireNetwork(cwd: string, log: string, env: Record<string, string>) {
	const limits = ['--fetch-retries=1', '--fetch-timeout=20000'];
	await run('npm', ['view', `n8n@${n8nVersion}`, 'version', '--prefer-online', ...limits], {
		cwd,
		log,
		env,
	}).catch(() => {
		throw new UnrecoverableError(
			`n8n ${n8nVersion} must be downloaded once, but the npm registry didn't respond. ` +
				"Check the network connection and npm's settings (`npm config get registry`, `npm config get proxy`), then run this again. " +
				`The log of npm: ${log}`,
		);
	});
}

async function requireCompiler(cwd: string, log: string, env: Record<string, string>) {
	const tools = [
		['python3', 'python'],
		['make', 'gmake'],
		['g++', 'c++', 'clang++'],
	];
	const missing = tools.filter((names) => !names.some(runs)).map(([name]) => name);
	if (missing.length === 0) return;
	// Without a compiler, try to download a compiled driver.
	const trial = join(cwd, 'trial');
	await mkdir(trial);
	await writeFile(join(trial, 'package.json'), '{"private":true}');
	const driver = `sqlite3@${manifest.dependencies.sqlite3}`;
	await run('npm', ['install', '--no-audit', '--no-fund', driver], { cwd: trial, log, env }).catch(
		() => {
			throw new UnrecoverableError(
				`n8n's database driver (sqlite3) must be compiled, but these programs are missing: ${missing.join(', ')}. ` +
					'Debian, Ubuntu: `sudo apt-get install python3 make g++`. Fedora: `sudo dnf install python3 make gcc-c++`. ' +
					'macOS: `xcode-select --install`. Then run this again.',
			);
		},
	);
	await rm(trial, { recursive: true });
}

function runs(command: string): boolean {
	return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}

const seconds = (since: number) => `${Math.round((Date.now() - since) / 1000)} s`;

/** Allows one installation at a time. The second waits, and takes over if the first process has died. */
async function lock(file: string, report: (line: string) => void): Promise<() => Promise<void>> {
	const mine = `${file}.${process.pid}`;
	await writeFile(mine, String(process.pid));
	let isReported = false;
	const take = async () => {
		try {
			// Creating a link is atomic, so a lock always contains its owner.
			await link(mine, file);
			return true;
		} catch {
			const owner = await readFile(file, 'utf8').catch(() => undefined);
			if (owner === undefined) return false;
			if (!isAlive(Number(owner))) await rm(file, { force: true });
			else if (!isReported) report(`Waiting for another process (${owner}) that is installing n8n`);
			isReported = true;
			return false;
		}
	};
	await until('another installation of n8n to end', take, { timeout: 15 * 60_000, every: 500 });
	await rm(mine);
	return () => rm(file, { force: true });
}

function isAlive(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}
