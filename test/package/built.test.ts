import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PackageDirectoryLoader } from 'n8n-core';
import type { INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { PACKAGE, setupEngine } from '../engine';
import { ROOT } from '../engine/sourceLoader';
import { hasSchema, keysOf, nameOf, schemaPath } from '../schema/schemas';
import { anchorsOf } from './anchors';
import { NODES } from './descriptions';

const SOURCES = [
	...['nodes', 'credentials', 'package.json', 'tsconfig.json', 'gulpfile.js'],
	...['README.md', 'CHANGELOG.md', 'LICENSE'],
];
const BUILD_MS = 120_000;

const packed = z.tuple([z.object({ files: z.array(z.object({ path: z.string() })) })]);

let folder = '';
let built: PackageDirectoryLoader;

/** Builds a copy of the package and loads it with n8n's loader. */
beforeAll(async () => {
	await setupEngine();
	folder = mkdtempSync(path.join(tmpdir(), 'built-'));
	for (const name of SOURCES) {
		cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
	}
	symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
	execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, encoding: 'utf8' });
	built = new PackageDirectoryLoader(folder);
	await built.loadAll();
}, BUILD_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const named = (name: string): INodeTypeDescription => {
	const found = built.types.nodes.find((node) => node.name === name);
	if (found === undefined) throw new Error(`n8n loads no node ${name}`);
	return found;
};

/** The file that n8n serves for a URL such as icons/<package>/dist/nodes/…/x.svg. */
const served = (url: string) => path.join(folder, url.replace(`icons/${PACKAGE}/`, ''));

test('n8n loads exactly these nodes, and the credential', () => {
	expect(built.packageName).toBe(PACKAGE);
	expect(built.types.nodes.map(({ name }) => name).sort()).toEqual(NODES);
	expect(built.types.credentials.map(({ name }) => name)).toEqual([CREDENTIAL]);
	expect(built.types.credentials[0]?.supportedNodes?.length).toBeGreaterThan(0);
});

test.each(NODES)('%s has its icons and its codex where n8n looks for them', (name) => {
	const file = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
	const { iconUrl, codex } = named(name);
	const urls = typeof iconUrl === 'object' ? [iconUrl.light, iconUrl.dark] : [];
	expect(urls.map((url) => existsSync(served(url)))).toEqual([true, true]);
	expect(existsSync(path.join(folder, 'dist/nodes', file, `${file}.node.json`))).toBe(true);
	expect(codex?.categories?.length).toBeGreaterThan(0);
	const docs = new URL(codex?.resources?.primaryDocumentation?.[0]?.url ?? '');
	const [page = ''] = /docs\/[\w-]+\.md$/.exec(docs.pathname) ?? [];
	expect(anchorsOf(page).map((anchor) => `#${anchor}`)).toContain(docs.hash);
	expect(codex?.alias?.length).toBeGreaterThan(0);
});

test('contains every schema where n8n looks for it', () => {
	const dist = path.join(folder, 'dist/nodes');
	const keys = keysOf(built.types.nodes).filter(hasSchema);
	expect(keys.length).toBeGreaterThan(20);
	expect(keys.filter((key) => !existsSync(schemaPath(key, dist))).map(nameOf)).toEqual([]);
});

test('npm publishes only the built files, the README, the changelog, and the license', () => {
	const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
	const output = execFileSync('npm', pack, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
	const [{ files }] = packed.parse(JSON.parse(output));
	const paths = files.map((file) => file.path);
	expect(paths.filter((file) => !file.startsWith('dist/')).sort()).toEqual([
		'CHANGELOG.md',
		'LICENSE',
		'README.md',
		'package.json',
	]);
	const endings = new Set(paths.map((file) => path.extname(file)));
	expect([...endings].sort()).toEqual(['', '.js', '.json', '.md', '.svg']);
});

test('the credential has its icons', () => {
	const { iconUrl } = built.types.credentials[0] ?? {};
	const urls = typeof iconUrl === 'object' ? [iconUrl.light, iconUrl.dark] : [];
	expect(urls.map((url) => existsSync(served(url)))).toEqual([true, true]);
});
