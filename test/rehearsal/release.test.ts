/**
 * A release from the tag to the installed node, and an update while workflows are at work. Only provenance is missing,
 * because GitHub must sign it. Pictures are in reports/release.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import camelCase from 'lodash/camelCase';
import countBy from 'lodash/countBy';
import { readManifest } from '../../scripts/release/publisher';
import { Editor } from '../browser/editor';
import { Account } from '../e2e/account';
import type { N8nDriver } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { installedPackage, listedFiles, packageName, projectFolder } from '../n8n/package-install';
import { LONG_PING_TIMEOUT, N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import type { Simulator } from '../simulator';
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
let account: Account;
let n8n: N8nDriver;
let editor: Editor;
let page: CommunityNodes;
let simulator: Simulator;
let release: ReleaseFolder;
let token = '';
let live: LiveWorkflows;
let before: Report;
let during: Report[] = [];
let reported: string[] = [];

const picture = async (name: string) => {
	await editor.screenshot(PICTURES, name);
};
const installedVersion = () => readManifest(installedPackage(server.home)).version;

/** The names of the nodes in package.json, as n8n lists them. */
async function ownNodes(): Promise<string[]> {
	const { nodes } = await listedFiles(projectFolder);
	return nodes.map((file) => `${packageName}.${camelCase(basename(file, '.node.js'))}`);
}

async function restart(): Promise<void> {
	await server.stop();
	await server.boot();
	await n8n.signIn();
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
	const env = { ...publicName.env, ...LONG_PING_TIMEOUT };
	server = await N8nServer.start({ host, home: join(folder, 'n8n'), env });
	account = new Account({ n8nUrl: server.baseUrl });
	({ n8n, simulator } = account);
	await n8n.signIn();
	editor = await Editor.open(server);
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
	const listed = (await n8n.types('nodes')).map(({ name }) => name);
	expect(listed).toEqual(expect.arrayContaining(await ownNodes()));
	expect(await page.card(packageName).innerText()).toContain(FIRST);
	const codex = join(installedPackage(server.home), 'dist/nodes/PlaceCall/PlaceCall.node.json');
	expect(readFileSync(codex, 'utf8')).toContain(`"${release.repository}/blob/main/`);
});

it('workflows are published, and an execution waits for its call', async () => {
	live = await LiveWorkflows.publish(account);
	before = await live.reportCall();
	expect(await startedCalls(n8n, live.completed, 1)).toEqual([before.callId]);
	live.changeMode('support');
	expect(await startedEvents(n8n, live.events, 1)).toHaveLength(1);
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
		await page.untilVersion(packageName, NEXT);
	});
	await picture('6-updated');
	expect(installedVersion()).toBe(NEXT);
	console.log(
		`${during.length} calls ended during the update. Responses: ${JSON.stringify(countBy(during, 'status'))}`,
	);
});

it('the execution that waited resumes once, with the result of its call', async () => {
	const [execution] = await n8n.executions(live.waiting);
	expect(execution?.status).toBe('waiting');
	expect(await live.endAwaitedCall()).toBe(200);
	const result = await n8n.finished(execution?.id ?? '');
	expect(result.status).toBe('success');
	expect((await n8n.output(result.id, 'Place Call')).map(({ json }) => json)).toMatchObject([
		{ call_ended_reason: 'assistant-ended-call', timed_out: false },
	]);
	expect(await n8n.executions(live.waiting)).toHaveLength(1);
	expect(live.awaitedCalls()).toHaveLength(1);
});

it('the chat connection is open once, and an event starts one execution', async () => {
	expect(simulator.sessions.openSockets()).toBe(1);
	live.changeMode('ai');
	expect(await startedEvents(n8n, live.events, 2)).toHaveLength(2);
});

// n8n doesn't publish workflows again after an update.
it('each call that ended during the update or after it started one execution, without a delay', async () => {
	const after = await live.reportCall();
	expect([...during, after].map(({ status }) => status)).toEqual([...during, 200].map(() => 200));
	expect(await live.reportAgain(before.callId)).toEqual(before);
	reported = [before, ...during, after].map(({ callId }) => callId).sort();
	expect(await startedCalls(n8n, live.completed, reported.length)).toEqual(reported);
});

it.each<[string, () => Promise<void>]>([
	['is published again', async () => await live.publishAgain(n8n)],
	['starts with n8n', restart],
])('when the trigger %s, it responds, and starts nothing twice', async (_how, begin) => {
	await begin();
	await live.untilListening();
	expect(installedVersion()).toBe(NEXT);
	const next = await live.reportCall();
	expect(next.status).toBe(200);
	expect(await live.reportAgain(next.callId)).toEqual(next);
	reported = [...reported, next.callId].sort();
	expect(await startedCalls(n8n, live.completed, reported.length)).toEqual(reported);
});
