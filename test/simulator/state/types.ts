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
	/** Numbers that the calling engine already holds for this campaign. */
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
	/** HTTP status of the answer; null when there was none. */
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
	/** The body it was placed with; null for seeded calls. */
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
	/** How often it was read while in flight: the status moves on with each reading. */
	reads: number;
	deliveries: Delivery[];
	/** False when a number on the DND list was accepted but is never dialled. */
	dialled: boolean;
}

export interface DndEntry {
	id: number;
	agentUuid: string;
	phone: string;
	reason: string;
	createdAt: string;
}
