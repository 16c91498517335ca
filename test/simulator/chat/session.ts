import { istTimestamp } from '../clock';
import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import type { Agent } from '../state/state';

export type SessionMode = 'ai' | 'support';

/** Of a message or turn. */
export type Id = string | number;

/** A customer's message, sent in any way. */
export interface Incoming {
	/** How it was sent. An idempotency key belongs to the rail of its first use. */
	rail: 'rest' | 'socket';
	content: string;
	/** Set for the response to an interactive message. Then `content` is the choice. */
	interaction: { id: string; optionId: string | null } | null;
	/** Chosen by the client. */
	messageId: string | null;
	idempotencyKey: string | null;
}

/** A turn in flight, into which later messages are merged. */
export interface Flight {
	turnId: Id;
	contents: string[];
	merged: Array<{ turnId: Id; messageId: Id }>;
}

/** The turn of an idempotency key. */
export interface RememberedTurn {
	incoming: Incoming;
	outcome: JsonObject;
	turnId: Id;
	messageId: Id;
}

/** Sends an event. A socket may delay it until its ack is sent. */
export type Emit = (type: string, payload: JsonObject) => void;

export interface Session {
	sessionId: string;
	agentUuid: string;
	accountId: number;
	status: 'open' | 'dormant' | 'paused' | 'closed';
	mode: SessionMode;
	person: string | null;
	context: string[];
	messages: Array<{ id: Id; role: 'user' | 'ai'; content: string }>;
	interactions: Map<string, { id: string; options: string[]; answered: boolean }>;
	remembered: Map<string, RememberedTurn>;
	/** Scripted contents that take effect only once. */
	spent: Set<string>;
	flight: Flight | null;
	/** Recent events, for replaying. */
	events: Array<{ at: number; frame: JsonObject }>;
	createdAt: string;
}

/** An open session. Its context bucket already has an initial entry. */
export function newSession(agent: Agent, now: number, sessionId: string): Session {
	return {
		sessionId,
		agentUuid: agent.agentUuid,
		accountId: agent.accountId,
		status: 'open',
		mode: 'ai',
		person: null,
		context: [`Conversation with ${agent.name}`],
		messages: [],
		interactions: new Map(),
		remembered: new Map(),
		spent: new Set(),
		flight: null,
		events: [],
		createdAt: istTimestamp(now),
	};
}

export function goDormant(session: Session, emit: Emit): void {
	if (session.status !== 'open') return;
	session.status = 'dormant';
	emit('session_dormant', { reason: 'inactivity' });
}

/** The next message reactivates a dormant session. */
export function wake(session: Session, { socket }: Dialect, emit: Emit): void {
	if (session.status === 'dormant') {
		emit('session_reactivated', { reason: socket.reactivatedReason });
	}
	if (session.status !== 'closed') session.status = 'open';
}

export function closeSession(session: Session, emit: Emit): void {
	if (session.status === 'closed') return;
	session.status = 'closed';
	emit('session_closed', {});
}

export function switchMode(
	session: Session,
	mode: SessionMode,
	{ socket }: Dialect,
	emit: Emit,
): void {
	if (session.mode === mode) return;
	session.mode = mode;
	const isTakenOver = mode === 'support';
	emit('mode_changed', { to: mode, ...(isTakenOver && { active_human: socket.activeHuman }) });
}
