/**
 * `npm run lock:complete`, to run after every `npm install`. If the registry doesn't have the binaries for other
 * platforms, npm omits them from the lockfile, and `npm ci` then rejects it. Adds them, with the checksum if the
 * registry has it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const file = join(__dirname, '..', 'package-lock.json');
interface Entry {
	version?: string;
	integrity?: string;
	dev?: boolean;
	optional?: boolean;
	optionalDependencies?: Record<string, string>;
}
// zod would copy the object and reorder its keys.
const lock = z.custom<{ packages: Record<string, Entry> }>(
	(value) => z.object({ packages: z.record(z.object({})) }).safeParse(value).success,
);

const text = readFileSync(file, 'utf8');
const content = lock.parse(JSON.parse(text));
const { packages } = content;
let added = 0;
for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
	for (const [name, version] of Object.entries(optionalDependencies)) {
		const platform = platformOf(name);
		if (!platform || !/^\d/.test(version) || isLocked(path, name)) continue;
		packages[`node_modules/${name}`] = {
			version,
			...platform,
			...(dev && { dev }),
			optional: true,
		};
		added++;
	}
}
const withoutChecksum: string[] = [];
for (const [path, entry] of Object.entries(packages)) {
	if (path === '' || entry.integrity !== undefined || entry.version === undefined) continue;
	const name = `${path.split('node_modules/').at(-1)}@${entry.version}`;
	const integrity = checksumOf(name);
	// In npm's place, so that the next `npm install` changes nothing.
	if (integrity === undefined) withoutChecksum.push(name);
	else packages[path] = { version: entry.version, integrity, ...entry };
}
const sorted = Object.fromEntries(
	Object.entries(packages).sort(([one], [other]) => one.localeCompare(other, 'en')),
);
const indent = /^([\t ]+)"/m.exec(text)?.[1] ?? '\t';
writeFileSync(file, `${JSON.stringify({ ...content, packages: sorted }, null, indent)}\n`);
console.log(`Added ${added} packages for other platforms to the lockfile`);
// `npm ci` installs them unchecked, and only on their platform.
for (const name of withoutChecksum) console.log(`The registry has no checksum of ${name}`);

/** Parses a name such as x-linux-arm64-musl into the fields that npm checks before it installs a package. */
function platformOf(name: string) {
	const parts =
		/-(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|x64|ia32|loong64|ppc64|riscv64|s390x)(?:-(.+))?$/.exec(
			name,
		);
	if (!parts) return undefined;
	const [, os, cpu, abi = ''] = parts;
	const libc = abi.startsWith('musl') ? ['musl'] : abi.startsWith('gnu') ? ['glibc'] : undefined;
	return { os: [os], cpu: [cpu], ...(os === 'linux' && libc && { libc }) };
}

function isLocked(from: string, name: string): boolean {
	return `node_modules/${name}` in packages || `${from}/node_modules/${name}` in packages;
}

function checksumOf(name: string): string | undefined {
	const { status, stdout } = spawnSync('npm', ['view', name, 'dist.integrity'], {
		encoding: 'utf8',
	});
	const integrity = stdout.trim();
	return status === 0 && integrity.startsWith('sha512-') ? integrity : undefined;
}
