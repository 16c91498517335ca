/** A simulated service and a real n8n, with a credential and the example workflows. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { credentialFor } from '../test/contract/credentialFor';
import { owner, type N8nDriver, type Reference } from '../test/n8n/driver';
import { withCredentials, credentialType, exampleFiles, readExample } from '../test/n8n/examples';
import { connect, externalN8n } from '../test/n8n/external';
import { installHost } from '../test/n8n/host';
import { freePort, requireFree, serviceHost } from '../test/n8n/ports';
import { N8nServer, type RunningN8n } from '../test/n8n/server';
import { UnrecoverableError } from '../test/n8n/until';
import type { WorkflowJson } from '../test/n8n/workflow';
import {
	dialects,
	outcomeByNumber,
	startSimulator,
	type Call,
	type Simulator,
} from '../test/simulator';
import { firstSteps } from './firstSteps';
import { provideCampaign, provideOutcomes, type WithTable } from './sampleCampaign';

export type Report = (line: string) => void;

export interface StackOptions {
	/** n8n's user folder, if N8N_URL doesn't name a running n8n. */
	home: string;
	port: number;
	/** For examples with a schedule, and for periods such as "per day". */
	timeZone?: string;
	/** Installs the nodes in the user folder before n8n starts. */
	install: (home: string) => Promise<void>;
	env?: Record<string, string>;
}

export interface Stack {
	n8n: RunningN8n;
	home: string;
	simulator: Simulator;
	driver: N8nDriver;
	credential: Reference;
	/** Example 12. */
	campaign: WithTable;
	/** Example 16. */
	outcomes: WithTable;
	firstSteps: Reference;
	/** The other examples. */
	examples: Reference[];
	stop: () => Promise<void>;
}

export const { timeZone: zoneOfMachine } = new Intl.DateTimeFormat().resolvedOptions();

const credentialName = 'Simulated voice and chat agent service';

export async function startStack(options: StackOptions, report: Report): Promise<Stack> {
	const { home } = options;
	await mkdir(home, { recursive: true });
	if (externalN8n === undefined) {
		owner.password = await passwordIn(home);
		await options.install(home);
	}
	const simulator = await startSimulator({
		dialect: dialects.plain,
		keepResponses: true,
		host: serviceHost,
		port: await simulatorPort(home),
	});
	// A placed call ends, and its webhook is sent, a few seconds later.
	const outcome = (call: Call) => outcomeByNumber(simulator.state, call);
	simulator.setAutoComplete({ afterMs: 5_000, outcome });
	simulator.setAutoDial({ everyMs: 500, lastsMs: 4_000 });
	const n8n = externalN8n ?? (await startServer(options, report));
	const stop = async () => {
		await n8n.stop();
		await simulator.stop();
	};
	try {
		const driver = await connect(n8n);
		const credential = await provideCredential(driver, simulator);
		const campaign = await provideCampaign(driver, credential);
		const outcomes = await provideOutcomes(driver, credential);
		const published = [campaign, outcomes].map(({ workflow }) => workflow.name);
		const workflows = await provideWorkflows(driver, credential, published);
		return { n8n, home, simulator, driver, credential, campaign, outcomes, ...workflows, stop };
	} catch (error) {
		await stop();
		throw error;
	}
}

/**
 * The owner's password, which each folder has its own of. n8n also responds to requests for other hosts, so a website that
 * knows the password could sign in (DNS rebinding).
 */
export async function passwordIn(home: string): Promise<string> {
	const file = join(home, 'password');
	const known = await readFile(file, 'utf8').catch(() => '');
	if (known !== '') return known;
	if (existsSync(join(home, '.n8n', 'database.sqlite'))) {
		throw new UnrecoverableError(
			`The folder of an earlier version has no password: ${home}\nAdd --fresh to start with a new one, without its workflows.`,
		);
	}
	// n8n requires a capital letter and a digit.
	const password = `N8${randomBytes(12).toString('hex')}`;
	await writeFile(file, password, { mode: 0o600 });
	return password;
}

async function startServer(
	{ home, port, timeZone = zoneOfMachine, env }: StackOptions,
	report: Report,
): Promise<N8nServer> {
	const host = await installHost(report);
	report('Starting n8n');
	return await N8nServer.start({ host, home, port, env: { GENERIC_TIMEZONE: timeZone, ...env } });
}

/**
 * The port of the last start if it's free, because published workflows start before the credential is updated. With
 * another port, a slow start can leave a failed execution.
 */
async function simulatorPort(home: string): Promise<number> {
	const file = join(home, 'simulator-port');
	const last = Number(await readFile(file, 'utf8').catch(() => ''));
	const isFree = async () =>
		await requireFree(last).then(
			() => true,
			() => false,
		);
	const isUsable = last > 0 && (await isFree());
	const port = isUsable ? last : await freePort();
	await writeFile(file, String(port));
	return port;
}

/** Updates the credential, because the simulator may have another port than before. */
async function provideCredential(driver: N8nDriver, simulator: Simulator): Promise<Reference> {
	const data = credentialFor(simulator);
	const known = (await driver.credentials()).find(({ name }) => name === credentialName);
	if (!known) return await driver.createCredential(credentialType, data, credentialName);
	await driver.updateCredential(known.id, credentialType, data, credentialName);
	return known;
}

/** Adds *First steps* and the other examples. Existing workflows stay unchanged. */
async function provideWorkflows(
	driver: N8nDriver,
	credential: Reference,
	published: string[],
): Promise<Pick<Stack, 'firstSteps' | 'examples'>> {
	const known = await driver.workflows();
	const provide = async (example: WorkflowJson) =>
		known.find(({ name }) => name === example.name) ?? (await driver.createWorkflow(example));
	const others = exampleFiles()
		.map((file) => withCredentials(readExample(file), { [credentialType]: credential }))
		.filter(({ name }) => !published.includes(name));
	const examples: Reference[] = [];
	// n8n lists the newest workflow first.
	for (const example of others.reverse()) examples.unshift(await provide(example));
	return { firstSteps: await provide(firstSteps(credential)), examples };
}
