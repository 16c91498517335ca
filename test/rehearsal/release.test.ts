/**
 * A release from the tag to the installed node, and an update while workflows are at work. Only provenance is missing,
 * because GitHub must sign it. Pictures are in reports/release.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import camelCase from 'lodash/camelCase';
import countBy from 'lodash/countBy';
import { Editor } from '../browser/editor';
import { N8nDriver } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { installedPackage, listedFiles, packageName, projectFolder } from '../n8n/package-install';
import { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { CommunityNodes } from './communityNodes';
import { NpmRegistry } from './npmRegistry';
import { PublicName } from './publicName';
import { ReleaseFolder } from './releaseFolder';
import { LiveWorkflows, startedCalls, startedEvents, type Report } from './liveWorkflows';

const FIRST = '0.1.0';
const NEXT = '0.1.1';
const PICTURES = join(projectFolder, 'reports', 'release');

let folder = '';
let registry: NpmRegistry;
let publicName: PublicName;
let server: N8nServer;
let n8n: N8nDriver;
let editor: Editor;
let page: CommunityNodes;
let simulator: Simulator;
let release: ReleaseFolder;
let token = '';
let live: LiveWorkflows;
let before: Report;
let during: Report[] = [];

const picture = async (name: string) => {
	await editor.screenshot(PICTURES, name);
};
const installedVersion = (): unknown =>
	JSON.parse(readFileSync(join(installedPackage(server.home), 'package.json'), 'utf8')).version;

/** The names of the nodes in package.json, as n8n lists them. */
async function ownNodes(): Promise<string[]> {
	const { nodes } = await listedFiles(projectFolder);
	return nodes.map((file) => `${packageName}.${camelCase(basename(file, '.node.js'))}`);
}

async function publish(version: string): Promise<void> {
	release.tag(version);
	expect(release.check(`v${version}`)).toContain('may be published');
	expect(release.notes()).toContain(`Entries of ${version}`);
	const tarball = await release.pack(join(folder, version));
	release.publish(tarball, registry.url, token);
}

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
	const host = await installHost(console.log);
	registry = await NpmRegistry.start(join(folder, 'registry'));
	token = await registry.signUp();
	publicName = await PublicName.start(join(folder, 'npm'), registry.url);
	simulator = await startSimulator({ dialect: dialects.plain });
	server = await N8nServer.start({ host, home: join(folder, 'n8n'), env: publicName.env });
	n8n = await N8nDriver.signIn(server.baseUrl);
	editor = await Editor.open(server.baseUrl);
	page = new CommunityNodes(editor.page, server.baseUrl, picture);
});

// Shows where a failed test stopped.
afterEach(async () => {
	await picture('last');
});

afterAll(async () => {
	await editor.close();
	await server.stop();
	copyFileSync(server.log, join(PICTURES, 'n8n.log'));
	await simulator.stop();
	await publicName.stop();
	await registry.stop();
	rmSync(folder, { recursive: true, force: true });
});

it('a version is checked, packed, and published as the workflow does it', async () => {
	release = ReleaseFolder.create(join(folder, 'repository'));
	expect(() => release.check(`v${FIRST}`)).toThrow();
	release.enterPublisher();
	await publish(FIRST);
});

it('a user installs it in Settings > Community nodes', async () => {
	await page.open();
	await picture('1-no-package');
	await page.install(packageName);
	await picture('3-installed');
	expect(installedVersion()).toBe(FIRST);
	expect(await n8n.nodeTypes()).toEqual(expect.arrayContaining(await ownNodes()));
	expect(await page.card(packageName).innerText()).toContain(FIRST);
});

it('workflows are published, and an execution waits for its call', async () => {
	live = await LiveWorkflows.publish(n8n, simulator);
	before = await live.reportCall();
	await until('the first events', async () => {
		return (await startedCalls(n8n, live.completed)).length === 1;
	});
	live.changeMode('support');
	await until('the first event', async () => (await startedEvents(n8n, live.events)).length === 1);
	await until('the execution to wait', async () => {
		const [execution] = await n8n.executions(live.waiting);
		return execution?.status === 'waiting';
	});
});

it('a user updates the package, and calls end in between', async () => {
	await publish(NEXT);
	await page.open();
	await picture('4-update-available');
	during = await live.reportDuring(async () => {
		await page.update(packageName);
		await until('the new version', async () => Promise.resolve(installedVersion() === NEXT));
		await page.untilVersion(packageName, NEXT);
	});
	await picture('6-updated');
	console.log(
		`${during.length} calls ended during the update: ${JSON.stringify(countBy(during, 'status'))}`,
	);
});

it('each call that was accepted during the update started one execution', async () => {
	const accepted = during.filter(({ status }) => status === 200).map(({ callId }) => callId);
	const expected = [before.callId, ...accepted].sort();
	await until('all executions', async () => {
		return (await startedCalls(n8n, live.completed)).length >= expected.length;
	});
	expect(await startedCalls(n8n, live.completed)).toEqual(expected);
	expect(accepted).toHaveLength(during.length);
});
