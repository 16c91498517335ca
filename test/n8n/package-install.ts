import { existsSync } from 'node:fs';
import { cp, mkdtemp, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { run } from './command';
import { hostFolder } from './host';

export const projectFolder = join(__dirname, '..', '..');
export const packageName = 'n8n-nodes-voice-chat-agent';

/** The folder in which n8n looks for this community package. */
export function installedPackage(home: string): string {
	return join(home, '.n8n', 'nodes', 'node_modules', packageName);
}

/** A new folder for n8n, in which the package is installed. */
export async function newHome(): Promise<string> {
	const home = await mkdtemp(join(tmpdir(), 'n8n-home-'));
	await installPackage(home);
	const first = firstSettings(hostFolder());
	// Creating the tables of an empty database is a third of n8n's first start.
	if (existsSync(first)) await cp(first, join(home, '.n8n'), { recursive: true });
	return home;
}

/** What n8n stored at its first start after `npm run n8n:install`: mainly a database without content. */
export const firstSettings = (host: string) => join(host, '.first-settings');

export async function removeHome(home: string): Promise<void> {
	// PostgreSQL may still remove files.
	await rm(home, { recursive: true, force: true, maxRetries: 5 });
}

/** Packs the package as `npm publish` does, and unpacks it where n8n installs it. */
export async function installPackage(home: string): Promise<void> {
	const target = installedPackage(home);
	await mkdir(dirname(target), { recursive: true });
	await rm(target, { recursive: true, force: true });
	await unpackPackage(target);
	await requireListedFiles(target);
}

const manifest = z.object({
	n8n: z.object({ nodes: z.array(z.string()), credentials: z.array(z.string()) }),
});

/** The built files in the `n8n` section of package.json. */
export async function listedFiles(folder: string) {
	return manifest.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).n8n;
}

/** If one listed file is missing, n8n rejects the whole package and reports it only in its log. */
async function requireListedFiles(folder: string): Promise<void> {
	const listed = await listedFiles(folder);
	const missing = [...listed.nodes, ...listed.credentials].filter(
		(file) => !existsSync(join(folder, file)),
	);
	if (missing.length > 0) {
		throw new Error(`package.json lists files that the build didn't create: ${missing.join(', ')}`);
	}
}

/** The tarball that a release publishes. If `.ci/run` has packed it, the tests use it instead of packing again. */
export const packedPackage = process.env.PACKAGE_TARBALL;

/** Unpacks the package into a new folder. */
export async function unpackPackage(target: string): Promise<void> {
	const scratch = await mkdtemp(join(tmpdir(), 'pack-'));
	try {
		const archive = packedPackage ?? (await packPackage(projectFolder, scratch));
		await mkdir(target, { recursive: true });
		await run('tar', ['-xzf', archive, '-C', target, '--strip-components=1'], {
			cwd: scratch,
			log: join(scratch, 'log'),
		});
	} finally {
		await rm(scratch, { recursive: true, force: true });
	}
}

/** Packs a built package into a folder. Returns the path of the tarball. */
export async function packPackage(source: string, folder: string): Promise<string> {
	await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
		cwd: source,
		log: join(folder, 'log'),
	});
	const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
	if (archive === undefined) throw new Error('npm pack made no archive');
	return join(folder, archive);
}
