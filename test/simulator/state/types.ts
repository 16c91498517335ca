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

export interface Queue {
	agentUuid: string;
	totalQueued: number;
	completed: boolean;
}

export interface Upload {
	id: number;
	fileName: string;
	agentUuid: string;
	createdAt: string;
	queues: Queue[];
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
	isRetryEnabled: boolean;
	retryThreshold: number;
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
	/** The body of its request. Null for seeded calls. */
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

export interface DndEntry {
	id: number;
	agentUuid: string;
	phone: string;
	reason: string;
	createdAt: string;
}
