/**
 * A release from the tag to the installed node, and an update while workflows are at work. Only provenance is missing,
 * because GitHub must sign it. n8n's log is in reports/release.
 */
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import camelCase from 'lodash/camelCase';
import { z } from 'zod';
import { readManifest } from '../../../scripts/release/publisher';
import { Account, REPORTED } from '../../e2e/account';
import { callIdOf, executionsOf, placeCalls } from '../../e2e/calls';
import type { N8nDriver, Workflow } from '../../n8n/driver';
import { installHost } from '../../n8n/host';
import {
	installedPackage,
	listedFiles,
	packageName,
	projectFolder,
} from '../../n8n/package-install';
import { N8nServer } from '../../n8n/server';
import { until } from '../../n8n/until';
import { chain } from '../../n8n/workflow';
import { fixtures, type Simulator } from '../../simulator';
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
let reported: { workflow: Workflow; url: string };
let watching: Workflow;

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
	server = await N8nServer.start({ host, home: join(folder, 'n8n'), env: registry.env });
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

/** Reports as many ended calls to the published workflow. Returns the calls that have started it in all. */
async function startedBy(count: number, inAll: number): Promise<string[]> {
	const calls = await placeCalls(simulator, count, reported.url);
	for (const callId of calls) {
		const [delivery] = await simulator.completeCall(callId);
		expect(delivery?.status).toBe(200);
	}
	const items = await executionsOf(n8n, reported.workflow, REPORTED, inAll);
	return items.map(callIdOf);
}

const EVENTS = 'Chat Events Trigger';
const session = fixtures.sessions.open;

async function startedByEvents(mode: 'ai' | 'support', inAll: number): Promise<number> {
	await until('the chat connection', () => simulator.sessions.openSockets() === 1);
	simulator.sessions.setMode(session, mode);
	return (await executionsOf(n8n, watching, EVENTS, inAll)).length;
}

it('workflows are published', async () => {
	// The type of the credential is known only now.
	await account.open();
	reported = await account.publishReported();
	const listens = { sessionIds: session, eventTypes: ['mode_changed'] };
	const trigger = account.ours(EVENTS, 'chatEventsTrigger', listens, { webhookId: randomUUID() });
	watching = await account.publish(chain('watches', trigger));
	expect(await startedBy(1, 1)).toHaveLength(1);
	expect(await startedByEvents('support', 1)).toBe(1);
});

// n8n doesn't publish workflows again after an update.
it('a user updates the package, and the published workflows start once for each call and event', async () => {
	await publish(NEXT);
	expect(await communityPackages()).toMatchObject([{ updateAvailable: NEXT }]);
	await n8n.request('PATCH', '/community-packages', { name: packageName });
	expect(installedVersion()).toBe(NEXT);
	const calls = await startedBy(2, 3);
	expect(new Set(calls).size).toBe(3);
	expect(calls).toHaveLength(3);
	expect(await startedByEvents('ai', 2)).toBe(2);
});
