/** Every operation of the table with random Service Profiles, and a service that only understands their requests. */
import fc from 'fast-check';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import type { INodeParameters } from 'n8n-workflow';
import { everyWay } from '../contract/cases/everyOperation';
import { plainText } from '../../nodes/core/values/values';
import { perDialect } from '../contract/contractCase';
import { credentialFor } from '../contract/credentialFor';
import { engineHarness, runNode, speedUp } from '../engine';
import { eventually } from '../n8n/until';
import { fixtures, startSimulator, type Simulator } from '../simulator';
import {
	placeholdersOf,
	randomProfiles,
	readerOf,
	type RandomProfile,
	type Received,
} from './randomProfile';
import { IS_LONG, REPEATS, TIMEOUT_MS } from './runs';

const SPEEDUP = 50;
const PROFILES = IS_LONG ? 5 * REPEATS : 2;

const harness = engineHarness();
beforeEach(() => speedUp(SPEEDUP));
afterEach(() => jest.restoreAllMocks());

const REASON = 'asked & "said" {so}? 😀';
const CALL_FILTERS: { readonly [placeholder: string]: INodeParameters } = {
	status: { status: 'picked' },
	agent: { agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full } },
	campaign: { campaignId: String(fixtures.campaigns.active) },
	from: { from: '2020-01-01T00:00:00Z' },
	to: { to: '2090-01-01T00:00:00Z' },
	phone: { phone: '+919876500001' },
};

/** How a scene uses a part of the profile: the values that it always has, and fields for others. */
interface Use {
	part: string;
	always: string[];
	fields?: { readonly [placeholder: string]: INodeParameters };
}

function useOf(node: string, parameters: INodeParameters): Use | undefined {
	const { operation, sendingMethod } = parameters;
	const isSized = ['agent', 'pageSize'];
	switch (`${node} ${plainText(sendingMethod ?? operation)}`) {
		case 'dnd add':
			return {
				part: 'dnd.add',
				always: ['agent', 'phone'],
				fields: { reason: { reason: REASON } },
			};
		case 'dnd check':
			return { part: 'dnd.list', always: [...isSized, 'phone'] };
		case 'dnd getMany':
			return { part: 'dnd.list', always: isSized, fields: { phone: { phoneContains: '98' } } };
		case 'dnd remove':
			return { part: 'dnd.remove', always: ['agent', 'phone'] };
		case 'chatSession create':
			return {
				part: 'chat.session',
				always: ['agent'],
				fields: { person: { personName: REASON } },
			};
		case 'chatSend inbound':
			return { part: 'chat.inbound', always: ['agent', 'session', 'message'] };
		case 'chatSend async':
			return { part: 'chat.async', always: ['agent', 'session', 'message'] };
		case 'getCall getMany':
			return { part: 'calls', always: ['pageSize'], fields: CALL_FILTERS };
		case 'getCall getUnreached':
			return { part: 'calls', always: ['from', 'pageSize'] };
		default:
			return undefined;
	}
}

const NODES = ['agents', 'campaignStatus', 'chatSend', 'chatSession', 'dnd', 'getCall'];
const scenes = [...NODES, 'injectContext', 'placeCall', 'pushCampaignContacts'].flatMap((node) =>
	everyWay(node).map((scene) => ({ node, scene })),
);

/** Runs all scenes with a profile, and returns what isn't as expected. */
async function faultsWith(random: RandomProfile): Promise<string[]> {
	const received: Received[] = [];
	const { dialect, profile, fills } = random;
	const simulator = await startSimulator({ dialect, read: readerOf(random, received) });
	const faults: string[] = [];
	try {
		for (const { node, scene } of scenes) {
			// Connections of a scene stay open for a moment, and would be in use by another one.
			await eventually(() => simulator.sessions.openSockets() === 0);
			simulator.reset();
			received.length = 0;
			const parameters = { ...perDialect(scene.parameters, dialect) };
			const use = useOf(node, parameters);
			const shown = placeholdersOf(profile[use?.part ?? '']);
			const filled = Object.keys(use?.fields ?? {}).filter(
				(name) => shown.has(name) && fills(use?.part ?? '', name),
			);
			const more = Object.assign({}, ...filled.map((name) => use?.fields?.[name]));
			const given = [...(use?.always ?? []), ...filled];
			const lacking = [...shown].find(([name, one]) => one.isNeeded && !given.includes(name));
			const ofPeriod = { period: 'between', ...pick(more, 'from', 'to') };
			const ofCalls = { ...ofPeriod, filters: omit(more, 'from', 'to') };
			Object.assign(parameters, use?.part === 'calls' ? ofCalls : more);
			const message = await messageOf(simulator, profile, node, parameters, scene);
			const title = `${scene.title}, with ${filled.join()}`;
			if (lacking === undefined ? message !== '' : !isAboutNeeded(message))
				faults.push(`${title}: ${message} (lacks ${lacking?.[0]})`);
			if (lacking !== undefined && received.length > 0) faults.push(`${title}: was sent`);
			if (lacking !== undefined || use === undefined) continue;
			const [last] = received.slice(-1);
			const isComplete = last?.part === use.part && filled.every((name) => name in last.values);
			if (!isComplete) faults.push(`${title}: received ${JSON.stringify(received)}`);
			const texts = { reason: REASON, person: REASON, message: 'Hello' };
			for (const [name, text] of Object.entries(texts)) {
				if ((last?.values[name] ?? text) !== text) faults.push(`${title}: ${last?.values[name]}`);
			}
		}
		await eventually(() => simulator.sessions.openSockets() === 0);
	} finally {
		await simulator.stop();
	}
	return faults;
}

const isAboutNeeded = (message: string) => message.startsWith('The service needs {');

async function messageOf(
	simulator: Simulator,
	profile: object,
	node: string,
	parameters: INodeParameters,
	{ prepare, items = [{}] }: (typeof scenes)[number]['scene'],
): Promise<string> {
	prepare?.(simulator);
	const credential = { ...credentialFor(simulator), serviceProfile: JSON.stringify(profile) };
	const tested = await harness.nodeWith(credential, node, { parameters });
	const run = await runNode(
		tested,
		items.map((json) => ({ json })),
	);
	const { error } = run.data.resultData;
	return error === undefined ? '' : `${error.message} ${error.description ?? ''}`;
}

test(
	'every operation sends each value where a random profile shows it, or says what the service needs',
	async () => {
		const property = fc.asyncProperty(randomProfiles, async (random) => {
			const faults = await faultsWith(random);
			expect({ profile: faults.length > 0 && random.profile, faults }).toEqual({
				profile: false,
				faults: [],
			});
		});
		const seed = process.env.PROFILE_SEED;
		const settings = seed === undefined ? {} : { seed: Number(seed) };
		await fc.assert(property, { numRuns: PROFILES, endOnFailure: true, ...settings });
	},
	TIMEOUT_MS,
);
