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

/** A turn under way, into which later messages are merged. */
export interface Flight {
	turnId: string;
	contents: string[];
	merged: Array<{ turnId: string; messageId: string | number }>;
}

export interface RememberedTurn {
	rail: Rail;
	/** What identifies the content: the same key with another fingerprint is rejected. */
	fingerprint: string;
	outcome: JsonObject;
	turnId: string;
	messageId: string | number;
}

/** What a customer sent, whichever way. */
export interface Incoming {
	rail: Rail;
	content: string;
	/** Set for an answer to an interactive message; content then holds the choice. */
	interaction: { id: string; optionId: string | null } | null;
	/** Chosen by the client. */
	messageId: string | null;
	idempotencyKey: string | null;
}

/** How an event leaves the engine; a socket may hold it back until its ack is out. */
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
	/** Magic contents that take effect once only. */
	spent: Set<string>;
	flight: Flight | null;
	/** Recent events, for replaying. */
	events: ChatEvent[];
	deliveryUrl: string | null;
	createdAt: string;
}
