/**
 * `npm run long -- reading [--calls 100000]`: what a reading of Call Completed Trigger costs for a long contact list. Once
 * for a first reading that only remembers the calls, and once for one that starts the workflow for few of them.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { runScript } from '../n8n/command';
import { N8nDriver } from '../n8n/driver';
import { installHost } from '../n8n/host';
import { newHome, packageName, removeHome } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { fill } from '../simulator/state/fill';
import { Gauge } from './gauge';

const PAGE_SIZE = 100;
const RECENT_CALLS = 10;
const HOUR_MS = 3_600_000;

/** A reading has ended if it sends no request for this long. */
const QUIET_MS = 5_000;
const MAX_READING_MS = 600_000;

const { values } = parseArgs({
	options: {
		calls: { type: 'string', default: '100000' },
		/** A folder for a CPU profile of each reading. */
		profile: { type: 'string' },
	},
});

/** A service with many calls of one contact list, of which few are recent. */
async function startService(calls: number): Promise<Simulator> {
	const { plain } = dialects;
	const paging = { ...plain.calls.paging, defaultSize: PAGE_SIZE };
	const dialect = { ...plain, calls: { ...plain.calls, paging } };
	const simulator = await startSimulator({ dialect, keepBodies: false, keepResponses: false });
	const now = Date.now();
	const only = { dndPhones: 0, sessions: 0 };
	fill(simulator.state, now - 2 * HOUR_MS, { ...only, calls });
	fill(simulator.state, now, { ...only, calls: RECENT_CALLS });
	return simulator;
}

async function measure(name: string, parameters: INodeParameters, calls: number): Promise<void> {
	const home = await newHome();
	const simulator = await startService(calls);
	const inspected = await freePort();
	const env = {
		NODE_OPTIONS: `--inspect=127.0.0.1:${inspected}`,
		N8N_DISABLED_MODULES: 'insights',
	};
	const server = await N8nServer.start({ host: await installHost(console.log), home, env });
	try {
		const gauge = await Gauge.attach(inspected, server.pid);
		const n8n = await N8nDriver.signIn(server.baseUrl);
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
		const type = `${packageName}.campaignCallsTrigger`;
		const all = {
			callsOf: 'lists',
			contactListIds: String(fixtures.uploads.completed),
			pollTimes: { item: [{ mode: 'everyDay', hour: 3 }] },
			...parameters,
		};
		const rest = { credentials: { [CREDENTIAL]: credential } };
		const workflow = await n8n.createWorkflow(chain(name, node('Trigger', type, 1, all, rest)));
		const before = await gauge.settle();
		const liveBefore = await gauge.liveBytes();
		await gauge.settle();
		const act = async () => {
			await n8n.activate(workflow);
			return await reading(simulator);
		};
		const file = values.profile && join(values.profile, `${name}.cpuprofile`);
		const { ms, requests } =
			file === undefined ? await act() : await gauge.inspector.profile(file, act);
		const peakMb = gauge.peakMb() - before;
		const stalls = (await gauge.stalls()).map(({ from, to }) => Math.round(to - from));
		const liveMb = ((await gauge.liveBytes()) - liveBefore) / 1024 / 1024;
		console.log(name, {
			calls,
			seconds: Math.round(ms / 100) / 10,
			requests,
			peakMb: Math.round(peakMb),
			keptMb: Math.round(liveMb),
			longestStallsMs: stalls.sort((a, b) => b - a).slice(0, 5),
		});
		gauge.inspector.detach();
	} finally {
		await server.stop();
		await simulator.stop();
		await removeHome(home);
	}
}

/** Waits until the reading in progress has ended. */
async function reading(simulator: Simulator): Promise<{ ms: number; requests: number }> {
	const ofCalls = () =>
		simulator.requests.filter(({ path }) => path.startsWith('/v1/call')).map(({ at }) => at);
	await until('the reading', async () => Promise.resolve(ofCalls().length > 0));
	const isQuiet = async () => {
		const before = ofCalls().length;
		await sleep(QUIET_MS);
		return ofCalls().length === before;
	};
	await until('the reading to end', isQuiet, { timeout: MAX_READING_MS, every: QUIET_MS });
	const times = ofCalls();
	return { ms: (times.at(-1) ?? 0) - (times[0] ?? 0), requests: times.length };
}

async function main(): Promise<void> {
	const calls = Number(values.calls);
	await measure('remembers', {}, calls);
	const startFrom = new Date(Date.now() - HOUR_MS).toISOString();
	await measure('from a date', { startFrom }, calls);
}

runScript(main);
