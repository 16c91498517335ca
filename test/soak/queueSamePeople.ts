/**
 * A step of `npm run test:queue`: executions in both workers have the same people at the same time. Place Call has *Limit
 * Calls per Person*, and Push Campaign Contacts has *Skip Numbers Pushed Before*. A worker is frozen, and then killed.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import countBy from 'lodash/countBy';
import mapValues from 'lodash/mapValues';
import range from 'lodash/range';
import type { INodeParameters } from 'n8n-workflow';
import { credentialFor, PACKAGE, post } from '../e2e/calls';
import { N8nDriver } from '../n8n/driver';
import { QueueMode } from '../n8n/queueMode';
import type { N8nOptions } from '../n8n/server';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { frozen, killed } from './chaos';
import { readExecutions } from './queueVerdict';

const CAMPAIGN = fixtures.campaigns.active;

/** Executions of each workflow at the same time, with the same people. */
const EXECUTIONS = 6;

/** After this long, the executions have begun and haven't ended. */
const DISRUPTED_AFTER_MS = 2_000;

const MAX_SETTLING_MS = 300_000;

const AGENT = { agentUuid: byId(fixtures.agents.full) };
const WORKFLOWS: Record<string, INodeParameters> = {
	placeCall: {
		...AGENT,
		countryCode: 'IN',
		phoneNumber: '={{ $json.phone }}',
		options: { callLimit: { limit: { maximumCalls: 1, period: 'day' } } },
	},
	pushCampaignContacts: {
		...AGENT,
		campaignId: byId(CAMPAIGN),
		options: { output: 'requests', skipPushedBefore: true },
		developerSettings: { contactsPerRequest: 5 },
	},
};

type Paths = Record<string, string>;

export async function testSamePeople(
	options: Pick<N8nOptions, 'host' | 'home' | 'env'>,
	people: number,
) {
	const simulator = await startSimulator({ dialect: dialects.plain, latencyMs: 50 });
	const queue = await QueueMode.start(options, { workers: 2, webhooks: 0 });
	try {
		const n8n = await N8nDriver.signIn(queue.main.baseUrl);
		const credentials = await credentialFor(n8n, simulator);
		const paths = mapValues(WORKFLOWS, () => randomUUID());
		for (const [type, path] of Object.entries(paths)) {
			const parameters = WORKFLOWS[type] ?? {};
			const begin = webhook(path, { responseMode: 'onReceived' });
			const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
			const ours = node('Ours', `${PACKAGE}.${type}`, 1, parameters, { credentials });
			const after = node('After', 'n8n-nodes-base.noOp', 1);
			await n8n.activate(await n8n.createWorkflow(chain(type, begin, split, ours, after)));
		}
		for (const url of urlsOf(queue, paths)) {
			const isServed = async () => (await post(url, { people: [] })).status === 200;
			await until('the webhook', isServed);
		}
		const [worker] = queue.workers;
		if (worker === undefined) throw new Error('There is no worker');
		const disruptions = {
			none: async () => {},
			frozen: async () => await frozen(worker),
			killed: async () => await killed(worker),
		};
		const results: Record<string, Awaited<ReturnType<typeof round>>> = {};
		let first = 9_200_000_000;
		for (const [name, disrupt] of Object.entries(disruptions)) {
			const phones = range(people).map((nth) => String(first + nth));
			first += people;
			results[name] = await round(queue, simulator, paths, phones, disrupt);
		}
		return results;
	} finally {
		await queue.stop();
		await simulator.stop();
	}
}

function urlsOf({ main }: QueueMode, paths: Paths): string[] {
	return Object.values(paths).map((path) => `${main.baseUrl}/webhook/${path}`);
}

/** Starts the executions, and counts how often each person was reached. */
async function round(
	queue: QueueMode,
	simulator: Simulator,
	paths: Paths,
	phones: readonly string[],
	disrupt: () => Promise<void>,
) {
	const startedAt = Date.now();
	const earlier = readExecutions(queue.stores).length;
	const body = { people: phones.map((phone) => ({ phone })) };
	const started = range(EXECUTIONS).flatMap(() =>
		urlsOf(queue, paths).map(async (url) => await post(url, body)),
	);
	const disrupted = sleep(DISRUPTED_AFTER_MS).then(disrupt);
	await Promise.all([...started, disrupted]);
	await queue.untilExecutionsEnd(MAX_SETTLING_MS);
	const executions = readExecutions(queue.stores).slice(earlier);
	const reached = {
		called: countBy(simulator.placedCalls(), ({ phone }) => phone.slice(-10)),
		pushed: countBy(simulator.contactsOf(CAMPAIGN), ({ phone }) => phone.slice(-10)),
	};
	return {
		people: phones.length,
		executions: countBy(executions, ({ workflow, status }) => `${workflow}: ${status}`),
		reasons: countBy(executions.map(({ error }) => error).filter((error) => error !== '')),
		...mapValues(reached, (times) => countBy(phones, (phone) => times[phone] ?? 0)),
		seconds: Math.round((Date.now() - startedAt) / 1_000),
		twice: Object.values(reached).flatMap((times) => phones.filter((one) => (times[one] ?? 0) > 1)),
	};
}
