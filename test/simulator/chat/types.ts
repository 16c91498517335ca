import type { JsonObject } from '../json';

export type SessionStatus = 'open' | 'dormant' | 'paused' | 'closed';
export type SessionMode = 'ai' | 'support';
/** The way a message came in; an idempotency key belongs to the rail it was first used on. */
export type Rail = 'rest' | 'socket';

export interface ChatMessage {
	id: string | number;
	role: 'user' | 'ai';
	content: string;
	createdAt: string;
}

export interface Interaction {
	id: string;
	options: string[];
	answered: boolean;
}

export interface ChatEvent {
	eventId: string;
	at: number;
	frame: JsonObject;
}

export interface RememberedTurn {
	rail: Rail;
	/** What identifies the content: the same key with another fingerprint is refused. */
	fingerprint: string;
	outcome: JsonObject;
}

export interface Session {
	sessionId: string;
	agentUuid: string;
	accountId: number;
	status: SessionStatus;
	mode: SessionMode;
	customer: string | null;
	context: string[];
	messages: ChatMessage[];
	interactions: Map<string, Interaction>;
	remembered: Map<string, RememberedTurn>;
	/** Magic contents that take effect once only. */
	spent: Set<string>;
	/** Turn in flight, into which others are merged. */
	inFlight: string | null;
	events: ChatEvent[];
	deliveryUrl: string | null;
	createdAt: string;
}
