import { randomUUID } from 'node:crypto';
import type { Session } from '../chat/session';
import type { JsonObject } from '../json';

export interface Agent {
	agentUuid: string;
	name: string;
	accountId: number;
	active: boolean;
	/** The attached outbound number, international form. */
	number: string | null;
	postCallAnalysis: boolean;
}

export type CampaignStatus = 'Draft' | 'Active' | 'Paused' | 'Archived';

export interface Upload {
	id: number;
	fileName: string;
	agentUuid: string;
	createdAt: string;
	queues: Array<{ agentUuid: string; totalQueued: number; completed: boolean }>;
}

export interface StoredContact {
	phone: string;
	personName: string | null;
	/** The keys kept as prompt variables. */
	extra: JsonObject;
	uploadId: number;
	enqueued: boolean;
	/** What the calling engine did when the contact was next in the queue. Null while it waits. */
	dialed: 'called' | 'do_not_disturb' | null;
}

export interface Campaign {
	id: number;
	name: string;
	status: CampaignStatus;
	createdAt: string;
	uploads: Upload[];
	contacts: StoredContact[];
	/** Numbers that the calling engine already has for this campaign. */
	queuedPhones: Set<string>;
}

export interface TranscriptTurn {
	role: string;
	content: string;
	timestamp: string;
}

export interface Delivery {
	url: string;
	at: number;
	/** HTTP status of the response. Null if there was none. */
	status: number | null;
	body: unknown;
}

export interface Call {
	callId: string;
	agentUuid: string;
	/** International form. */
	phone: string;
	fromNumber: string | null;
	callerName: string | null;
	/** The body of its request. Null if it wasn't placed through the API. */
	request: JsonObject | null;
	webhookUrl: string | null;
	campaignId: number | null;
	uploadId: number | null;
	createdAt: string;
	scheduledAt: number | null;
	finished: boolean;
	/** Record fields known once the call is finished. */
	outcome: JsonObject;
	transcript: TranscriptTurn[];
	recording: Buffer | null;
	/** Reads while in flight. Each one advances the status. */
	reads: number;
	deliveries: Delivery[];
	/** False if the number is on the DND list, so the call is accepted but never dialed. */
	dialed: boolean;
	/** The person has answered, and the call hasn't ended. */
	isTalking: boolean;
}

/** A call in progress. */
export function newCall(
	call: Partial<Call> & Pick<Call, 'agentUuid' | 'phone' | 'fromNumber' | 'createdAt'>,
): Call {
	return {
		callId: randomUUID(),
		callerName: null,
		request: null,
		webhookUrl: null,
		campaignId: null,
		uploadId: null,
		scheduledAt: null,
		finished: false,
		outcome: {},
		transcript: [],
		recording: null,
		reads: 0,
		deliveries: [],
		dialed: true,
		isTalking: false,
		...call,
	};
}

export interface DndEntry {
	id: number;
	agentUuid: string;
	phone: string;
	reason: string;
	createdAt: string;
}

/** The data of the service. Maps keep the order of creation. */
export class State {
	readonly accountId = 4021;
	readonly agents = new Map<string, Agent>();
	readonly campaigns = new Map<number, Campaign>();
	readonly calls = new Map<string, Call>();
	readonly dnd: DndEntry[] = [];
	readonly sessions = new Map<string, Session>();
	private counter = 5000;

	nextId(): number {
		return ++this.counter;
	}

	/** An agent of the token's account. Agents of other accounts count as unknown. */
	ownAgent(agentUuid: unknown): Agent | undefined {
		if (typeof agentUuid !== 'string') return undefined;
		const agent = this.agents.get(agentUuid);
		return agent?.accountId === this.accountId ? agent : undefined;
	}

	dndPhones(agentUuid: string): Set<string> {
		return new Set(this.dnd.filter((e) => e.agentUuid === agentUuid).map((e) => e.phone));
	}

	clear(): void {
		this.agents.clear();
		this.campaigns.clear();
		this.calls.clear();
		this.dnd.length = 0;
		this.sessions.clear();
		this.counter = 5000;
	}
}
