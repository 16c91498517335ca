/**
 * A release from the tag to the installed node, and an update while workflows are at work. Only provenance is missing,
 * because GitHub must sign it. n8n's log is in reports/release.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import camelCase from 'lodash/camelCase';
import countBy from 'lodash/countBy';
import { z } from 'zod';
import { readManifest } from '../../../scripts/release/publisher';
import { Account } from '../../e2e/account';
import type { N8nDriver } from '../../n8n/driver';
import { installHost } from '../../n8n/host';
import {
	installedPackage,
	listedFiles,
	packageName,
	projectFolder,
} from '../../n8n/package-install';
import { LONG_PING_TIMEOUT, N8nServer } from '../../n8n/server';
import type { Simulator } from '../../simulator';
import { LiveWorkflows, type Report } from './liveWorkflows';
import { NpmRegistry } from './npmRegistry';
import { ReleaseFolder } from './releaseFolder';

const FIRST = '0.1.0';
const NEXT = '0.1.1';
const REPORTS = join(projectFolder, 'reports', 'release');

let folder = '';
let registry: NpmRegistry;
let server: N8nServer;
let account: Account;
let n8n: N8nDriver;
let simulator: Simulator;
let release: ReleaseFolder;
let live: LiveWorkflows;
let before: Report;
let during: Report[] = [];

const installedVersion = () => readManifest(installedPackage(server.home)).version;

/** The names of the nodes in package.json, as n8n lists them. */
async function ownNodes(): Promise<string[]> {
	const { nodes } = await listedFiles(projectFolder);
	return nodes.map((file) => `${packageName}.${camelCase(basename(file, '.node.js'))}`);
}

/** The packages in **Settings > Community nodes**. */
async function communityPackages() {
	const listed = { installedVersion: z.string(), updateAvailable: z.string().optional() };
	const packages = z.array(z.object({ packageName: z.string(), ...listed }));
	return packages.parse(await n8n.request('GET', '/community-packages'));
}

async function publish(version: string): Promise<void> {
	release.tag(version);
	expect(release.check(`v${version}`)).toContain('may be published');
	expect(release.notes()).toContain(`Entries of ${version}`);
	await release.publish(await release.pack(join(folder, version)), registry.env);
}

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'release-'));
	const host = await installHost(console.log);
	registry = await NpmRegistry.start(join(folder, 'npm'));
	const env = { ...registry.env, ...LONG_PING_TIMEOUT };
	server = await N8nServer.start({ host, home: join(folder, 'n8n'), env });
	account = new Account({ n8nUrl: server.baseUrl });
	({ n8n, simulator } = account);
	await n8n.signIn();
});

afterAll(async () => {
	await server.stop();
	mkdirSync(REPORTS, { recursive: true });
	copyFileSync(server.log, join(REPORTS, 'n8n.log'));
	await simulator.stop();
	await registry.stop();
	rmSync(folder, { recursive: true, force: true });
});

it('a version is checked, packed, and published as the workflow does it', async () => {
	release = ReleaseFolder.create(join(folder, 'repository'));
	expect(() => release.check(`v${FIRST}`)).toThrow();
	release.enterPublisher();
	await publish(FIRST);
});

it('a user installs it by its name', async () => {
	await n8n.request('POST', '/community-packages', { name: packageName });
	expect(installedVersion()).toBe(FIRST);
	const listed = (await n8n.types('nodes')).map(({ name }) => name);
	expect(listed).toEqual(expect.arrayContaining(await ownNodes()));
	expect(await communityPackages()).toEqual([{ packageName, installedVersion: FIRST }]);
	const codex = join(installedPackage(server.home), 'dist/nodes/PlaceCall/PlaceCall.node.json');
	expect(readFileSync(codex, 'utf8')).toContain(`"${release.repository}/blob/main/`);
});

it('workflows are published', async () => {
	live = await LiveWorkflows.publish(account);
	before = await live.reportCall();
	expect(await live.startedCalls(1)).toEqual([before.callId]);
	live.changeMode('support');
	expect(await live.startedEvents(1)).toBe(1);
});

it('a user updates the package, and calls end in between', async () => {
	await publish(NEXT);
	expect(await communityPackages()).toMatchObject([{ updateAvailable: NEXT }]);
	during = await live.reportDuring(async () => {
		await n8n.request('PATCH', '/community-packages', { name: packageName });
	});
	expect(during).not.toEqual([]);
	expect(installedVersion()).toBe(NEXT);
	console.log(
		`${during.length} calls ended during the update. Responses: ${JSON.stringify(countBy(during, 'status'))}`,
	);
});

it('the chat connection is open once, and an event starts one execution', async () => {
	expect(simulator.sessions.openSockets()).toBe(1);
	live.changeMode('ai');
	expect(await live.startedEvents(2)).toBe(2);
});

// n8n doesn't publish workflows again after an update.
it('each call that ended during the update or after it started one execution, without a delay', async () => {
	const after = await live.reportCall();
	expect([...during, after].map(({ status }) => status)).toEqual([...during, 200].map(() => 200));
	expect(await live.reportAgain(before.callId)).toEqual(before);
	const reported = [before, ...during, after].map(({ callId }) => callId).sort();
	expect(await live.startedCalls(reported.length)).toEqual(reported);
});
