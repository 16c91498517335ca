/** What a release publishes, in the folder and in the lists of a real n8n. */
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join, relative } from 'node:path';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { writeSchemas } from '../../scripts/outputSchemas';
import { N8nDriver, type ListedType } from '../n8n/driver';
import { installedPackage, packageName, projectFolder } from '../n8n/package-install';
import { anchorsOf } from '../package/anchors';
import { n8nFolder } from './n8nFolder';
import { sharedN8n } from './shared';

const { baseUrl } = sharedN8n();
const folder = installedPackage(n8nFolder().home);
let n8n: N8nDriver;
let nodes: ListedType[];

beforeAll(async () => {
	n8n = await N8nDriver.signIn(baseUrl);
	nodes = (await n8n.types('nodes')).filter(
		({ name }) => name.startsWith(`${packageName}.`) && !name.endsWith('Tool'),
	);
});

const namesOfSources = globSync('nodes/*/*.node.ts', { cwd: projectFolder }).map((file) => {
	const [, name = ''] = /(\w+)\.node\.ts$/.exec(file) ?? [];
	return `${packageName}.${name.charAt(0).toLowerCase()}${name.slice(1)}`;
});

/** Expects an icon for the light and the dark theme at the URLs that the editor uses. */
async function expectIcons({ iconUrl }: ListedType): Promise<void> {
	expect(iconUrl?.dark).toBe(iconUrl?.light.replace('.svg', '.dark.svg'));
	for (const url of [iconUrl?.light, iconUrl?.dark]) {
		const response = await fetch(`${baseUrl}/${url}`);
		expect(response.headers.get('content-type')).toContain('svg');
	}
}

test('contains only built files, the README, the changelog, and the license', () => {
	const files = globSync('**', { cwd: folder, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
	expect(files.filter((file) => !file.startsWith('dist/')).sort()).toEqual([
		'CHANGELOG.md',
		'LICENSE',
		'README.md',
		'package.json',
	]);
	const built = files.filter((file) => file.startsWith('dist/'));
	expect([...new Set(built.map((file) => extname(file)))].sort()).toEqual(['.js', '.json', '.svg']);
});

test('contains each icon and codex file of the sources, and the schema of each output', () => {
	const assets = '{nodes,credentials}/**/*.{svg,json}';
	const schemas = mkdtempSync(join(tmpdir(), 'schemas-'));
	writeSchemas(join(schemas, 'nodes'));
	const expected = [projectFolder, schemas].flatMap((cwd) => globSync(assets, { cwd }));
	rmSync(schemas, { recursive: true });
	const built = globSync(assets, { cwd: `${folder}/dist` });
	expect(built.length).toBeGreaterThan(40);
	expect(built.sort()).toEqual(expected.sort());
});

test.each([
	['getCall/1.0.0/call/get', 'outcome'],
	['callCompletedTrigger/2.0.0', 'outcome'],
])("n8n's editor gets the schema %s", async (schema, field) => {
	const response = await fetch(`${baseUrl}/schemas/${packageName}.${schema}.json`);
	expect(await response.json()).toMatchObject({ properties: { [field]: { type: 'string' } } });
});

test('n8n lists each node with its icons, and a link to its heading in the docs', async () => {
	expect(nodes.map(({ name }) => name).sort()).toEqual(namesOfSources.sort());
	for (const node of nodes) {
		await expectIcons(node);
		const docs = new URL(node.codex?.resources.primaryDocumentation[0]?.url ?? '');
		const [page = ''] = /docs\/[\w-]+\.md$/.exec(docs.pathname) ?? [];
		expect(anchorsOf(page).map((anchor) => `#${anchor}`)).toContain(docs.hash);
		expect(node.codex?.alias.length).toBeGreaterThan(0);
		expect(node.codex?.categories.length).toBeGreaterThan(0);
	}
});

test('n8n lists the credential with its icons and its nodes', async () => {
	const all = await n8n.types('credentials');
	const credential = all.find(({ name }) => name === CREDENTIAL);
	expect(credential?.supportedNodes?.length).toBeGreaterThan(0);
	await expectIcons(credential ?? { name: CREDENTIAL });
});
