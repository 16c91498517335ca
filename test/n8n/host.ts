/** Installs a real n8n once, in a cache folder outside the checkout, and finds it again afterwards. */
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
/** Older versions to test with: what each needs beside it, because npm hoists other versions, and what it cannot do. */
export const olderVersions = z
	.record(z.object({ beside: z.record(z.string()), leaveOut: z.array(z.string()) }))
	.parse(JSON.parse(readFileSync(join(__dirname, 'older.json'), 'utf8')));
const manifestText = readManifest(process.env.N8N_HOST_VERSION);
const manifest = manifestSchema.parse(JSON.parse(manifestText));

export const n8nVersion = manifest.dependencies.n8n;

/** What npm installs; an older n8n than the one that the tests are made for can be asked for. */
function readManifest(version?: string): string {
	const text = readFileSync(join(__dirname, 'package.json'), 'utf8');
	const { dependencies, overrides } = manifestSchema.parse(JSON.parse(text));
	if (version === undefined || version === dependencies.n8n) return text;
	return JSON.stringify({
		private: true,
		dependencies: { ...dependencies, n8n: version, ...olderVersions[version]?.beside },
		// Older n8n takes this one from its maker's site; no test reads a workbook.
		overrides: { ...overrides, xlsx: '0.18.5' },
	});
}

export function cacheFolder(): string {
	const base = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
	return join(base, 'n8n-nodes-voice-chat-agent');
}

/** Where n8n is or will be: another manifest, Node or machine type is another installation. */
export function hostFolder(): string {
	const key = createHash('sha256')
		.update(manifestText)
		.update([process.versions.modules, process.platform, process.arch].join(' '))
		.digest('hex')
		.slice(0, 8);
	return join(cacheFolder(), `n8n-${n8nVersion}-${key}`);
}

/** Returns the folder of a complete n8n installation, making it first when there is none. */
export async function installHost(report: (line: string) => void): Promise<string> {
	const target = hostFolder();
	if (existsSync(target)) return target;
	if (Number(process.versions.node.split('.')[0]) < 22) {
		throw new UnrecoverableError(
			`n8n ${n8nVersion} needs Node 22 or later and this is Node ${process.versions.node}. ` +
				'Start it through npm (for example `npm start`), which brings the right Node along after `npm ci`.',
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
	const stopProgress = showProgress(log, started, report);
	try {
		report(`Installing n8n ${n8nVersion}: once, some 3 minutes and 2.2 GB, into ${target}`);
		await requireNetwork(partial, log, env);
		await requireCompiler(partial, log, env);
		const quiet = ['--no-audit', '--no-fund', '--loglevel=http'];
		await run('npm', ['install', '--legacy-peer-deps', '--ignore-scripts', ...quiet], {
			cwd: partial,
			log,
			env,
		});
		report('Compiling the database driver (sqlite3)');
		await run('npm', ['rebuild', 'sqlite3'], { cwd: partial, log, env });
	} finally {
		stopProgress();
	}
	// Only a finished installation ever has the final name.
	await rename(partial, target);
	report(`n8n ${n8nVersion} is installed (${seconds(started)})`);
}

/** The Node that runs now is the one that npm and the compiler must see. */
function npmEnvironment(): Record<string, string> {
	const node = dirname(realpathSync(process.execPath));
	const env: Record<string, string> = { PATH: `${node}:${process.env.PATH ?? ''}` };
	// The npm package of Node brings the headers, so that compiling downloads nothing.
	const headers = join(node, '..', 'node_modules', `node-${process.platform}-${process.arch}`);
	if (existsSync(join(headers, 'include'))) env.npm_config_nodedir = headers;
	return env;
}

async function requireNetwork(cwd: string, log: string, env: Record<string, string>) {
	const attempts = ['--fetch-retries=1', '--fetch-timeout=20000'];
	await run('npm', ['view', `n8n@${n8nVersion}`, 'version', '--prefer-online', ...attempts], {
		cwd,
		log,
		env,
	}).catch(() => {
		throw new UnrecoverableError(
			`n8n ${n8nVersion} has to be downloaded once, and the npm registry did not answer. ` +
				"Check the network connection and npm's settings (`npm config get registry`, `npm config get proxy`), then run this again. " +
				`What npm said: ${log}`,
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
	// A ready-made driver needs no compiler, where it can be downloaded.
	const trial = join(cwd, 'trial');
	await mkdir(trial);
	await writeFile(join(trial, 'package.json'), '{"private":true}');
	const driver = `sqlite3@${manifest.dependencies.sqlite3}`;
	await run('npm', ['install', '--no-audit', '--no-fund', driver], { cwd: trial, log, env }).catch(
		() => {
			throw new UnrecoverableError(
				`n8n's database driver (sqlite3) has to be compiled here, and this machine lacks: ${missing.join(', ')}. ` +
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

function showProgress(log: string, started: number, report: (line: string) => void): () => void {
	const timer = setInterval(() => {
		const fetched = readFileSync(log, 'utf8').split('http fetch GET 200').length - 1;
		report(`  … ${seconds(started)}, ${fetched} packages downloaded`);
	}, 10_000);
	return () => {
		clearInterval(timer);
	};
}

const seconds = (since: number) => `${Math.round((Date.now() - since) / 1000)} s`;

/** Two installations at once would spoil each other: the second waits, and takes over from a dead one. */
async function lock(file: string, report: (line: string) => void): Promise<() => Promise<void>> {
	const mine = `${file}.${process.pid}`;
	await writeFile(mine, String(process.pid));
	let told = false;
	const take = async () => {
		try {
			// A link appears together with its content, so nobody ever reads a lock without an owner.
			await link(mine, file);
			return true;
		} catch {
			const owner = await readFile(file, 'utf8').catch(() => undefined);
			if (owner === undefined) return false;
			if (!isAlive(Number(owner))) await rm(file, { force: true });
			else if (!told) report(`Another process (${owner}) is installing n8n; waiting for it`);
			told = true;
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
