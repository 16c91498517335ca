import type { JsonObject } from '../json';

export type SessionStatus = 'open' | 'dormant' | 'paused' | 'closed';
export type SessionMode = 'ai' | 'support';
/** How a message was sent. An idempotency key belongs to the rail of its first use. */
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

/** A turn in flight, into which later messages are merged. */
export interface Flight {
	turnId: string;
	contents: string[];
	merged: Array<{ turnId: string; messageId: string | number }>;
}

export interface RememberedTurn {
	rail: Rail;
	/** Identifies the content. The same key with another fingerprint is rejected. */
	fingerprint: string;
	outcome: JsonObject;
	turnId: string;
	messageId: string | number;
}

/** A customer's message, sent in any way. */
export interface Incoming {
	rail: Rail;
	content: string;
	/** Set for the response to an interactive message. Then `content` is the choice. */
	interaction: { id: string; optionId: string | null } | null;
	/** Chosen by the client. */
	messageId: string | null;
	idempotencyKey: string | null;
}

/** Sends an event. A socket may delay it until its ack is sent. */
export type Emit = (type: string, payload: JsonObject) => void;

export interface Session {
	sessionId: string;
	agentUuid: string;
	accountId: number;
	status: SessionStatus;
	mode: SessionMode;
	person: string | null;
	context: string[];
	messages: ChatMessage[];
	interactions: Map<string, Interaction>;
	remembered: Map<string, RememberedTurn>;
	/** Scripted contents that take effect only once. */
	spent: Set<string>;
	flight: Flight | null;
	/** Recent events, for replaying. */
	events: ChatEvent[];
	deliveryUrl: string | null;
	createdAt: string;
}
