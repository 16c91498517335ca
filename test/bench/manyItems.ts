/** Each action with 100,000 items, in its own n8n with a heap of 2 GB. */
import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { byId } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { Bench } from './bench';
import { workflow } from './jobs';
import type { ServiceData } from './simulatorProcess';
import { ours, seed } from './workflows';

const ITEMS = 100_000;
const SESSIONS = 1_000;
const HEAP_MB = 2_048;

export const manyItems = z.record(
	z.string(),
	z.object({ seconds: z.number(), peak_mb: z.number(), stall_ms: z.number() }),
);

const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.full };
const developerSettings = { concurrency: 100 };
const phone = '={{ $json.phone }}';
const sessionId = '={{ $json.session }}';

type Action = { type: string; parameters: INodeParameters; serviceData?: ServiceData };

const ACTIONS: { [name: string]: Action } = {
	'Place Call': {
		type: 'placeCall',
		parameters: { agentUuid, countryCode: 'IN', phoneNumber: phone, developerSettings },
	},
	'Get Call > Get': {
		type: 'getCall',
		parameters: { operation: 'get', callId: '={{ $json.call }}', developerSettings },
		serviceData: { calls: ITEMS },
	},
	'Push Campaign Contacts, One Item per Row': {
		type: 'pushCampaignContacts',
		parameters: {
			agentUuid,
			campaignId: byId(fixtures.campaigns.active),
			options: { output: 'rows' },
		},
	},
	'Campaign Status': {
		type: 'campaignStatus',
		parameters: { campaignId: byId(fixtures.campaigns.active) },
	},
	'DND List > Add': {
		type: 'dnd',
		parameters: { operation: 'add', agentUuid, phone, developerSettings },
	},
	'DND List > Check Many': {
		type: 'dnd',
		parameters: { operation: 'checkMany', agentUuid, phone },
		serviceData: { dndPhones: 5_000 },
	},
	'DND List > Remove': {
		type: 'dnd',
		parameters: {
			operation: 'remove',
			agentUuid,
			phone,
			treatNotListedAsDone: true,
			developerSettings,
		},
	},
	'Chat Send > Send Message': {
		type: 'chatSend',
		parameters: {
			operation: 'sendMessage',
			sendBy: 'socket',
			sessionId,
			message: 'Hi',
			developerSettings,
		},
		serviceData: { sessions: SESSIONS },
	},
	'Inject Context': {
		type: 'injectContext',
		parameters: { sessionId, context: '=Item {{ $itemIndex }}', developerSettings },
		serviceData: { sessions: SESSIONS },
	},
	'Agents > Check': { type: 'agents', parameters: { operation: 'check', agentUuid } },
};

const row = `{
	phone: String(9000000000 + i),
	call: '6f1c2a34-0000-4000-8000-' + String(1000000 + i).padStart(12, '0'),
	session: '3b241101-e2bb-4255-8caf-' + String(i % ${SESSIONS}).padStart(12, '0'),
}`;

/**
 * @param wanted the names of the actions to measure
 * @param store called with the figures after each of them
 */
export async function measureManyItems(
	wanted: (name: string) => boolean,
	store: (figures: z.infer<typeof manyItems>) => void,
): Promise<void> {
	for (const [name, { type, parameters, serviceData }] of Object.entries(ACTIONS)) {
		if (!wanted(name)) continue;
		const bench = await Bench.start({ heapMb: HEAP_MB });
		try {
			const nodes = [seed(ITEMS, row), ours(type, parameters, bench.target)];
			const run = await bench.prepare(workflow(`items-${type}`, { nodes }));
			await bench.resetService(serviceData);
			const { stepMs, peakMb, stallMs } = await run();
			const figures = {
				seconds: Math.round(stepMs / 100) / 10,
				peak_mb: Math.round(peakMb),
				stall_ms: Math.round(stallMs),
			};
			console.log(name, figures);
			store({ [name]: figures });
		} finally {
			await bench.stop();
		}
	}
}
