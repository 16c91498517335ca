import type { JsonObject } from '../json';
import type { WsToken } from '../api/types';

/** What became of asking for a token. `unreachable` is worth another attempt; asking again cannot change the others. */
export type MintResult =
	| { kind: 'token'; token: WsToken }
	| { kind: 'session_closed' | 'refused' | 'unreachable'; error: unknown };

/** "Frames sent by the client", first row. */
export interface MessageFrame {
	type: 'message';
	content: string;
	message_id?: string;
	idempotency_key?: string;
}

/** "Frames sent by the client", second row: a choice (`option_id`) or free-form input (`response`). */
export interface InteractionFrame {
	type: 'interaction_response';
	interaction_id: string;
	option_id?: string;
	response?: string;
	message_id?: string;
	idempotency_key?: string;
}

export type ClientFrame = MessageFrame | InteractionFrame;

/** `type` of the acknowledgement (section "Chat WebSocket"). */
export const ACK_TYPE = 'ws_write_result';

/** The documented `state` values of an ack; any other value is data. */
export const ACK_STATES = ['default', 'accepted', 'merged', 'busy', 'invalid', 'error'] as const;

/** The documented `error` values of an ack whose state is `invalid`. */
export const INVALID_CODES = [
	'bad_json',
	'bad_payload',
	'message_required',
	'invalid_input_type',
	'agent_inactive',
	'session_account_mismatch',
	'idempotency_key_reused',
	'idempotency_key_rail_conflict',
	'invalid_interaction',
] as const;

export type InvalidCode = (typeof INVALID_CODES)[number];

/** The ack `{ type, session_id, account_id, payload }`; the fields of `payload` that have a meaning here are read out. */
export interface Ack {
	state: string;
	reply: string | null;
	turnId: string | null;
	mergedInto: string | null;
	error: string | null;
	/** As received, with `mode`, `help_requested`, `message_id` and whatever else it holds. */
	payload: JsonObject;
}

/** The documented event types (table of section "Chat WebSocket"); any other type is data. */
export const EVENT_TYPES = [
	'message_received',
	'turn_result',
	'mode_changed',
	'session_closed',
	'session_dormant',
	'session_reactivated',
	'nudge_sent',
	'auto_resume_fired',
] as const;

/** One event `{ type, session_id, account_id, ts, event_id, payload }`. */
export interface ChatEvent {
	type: string;
	/** For de-duplication; null when the service sent none and the event cannot be told from others like it. */
	eventId: string | null;
	payload: JsonObject;
	/** The whole envelope as received. */
	envelope: JsonObject;
}

/** Payload of `message_received`. */
export interface ChatMessage {
	id: string | null;
	role: string | null;
	content: string | null;
	created_at: string | null;
}

/** Payload of `turn_result`. It holds no text of the reply. */
export interface TurnResult {
	turn_id: string | null;
	message_id: string | null;
	state: string | null;
	merged_into: string | null;
	error: string | null;
	/** As received. */
	payload: JsonObject;
}

/** The part of the browser-style WebSocket that is used; `new WebSocket(url)` is one. */
export interface ChatSocket {
	binaryType: 'arraybuffer' | 'blob';
	readonly readyState: number;
	send(text: string): void;
	close(code?: number, reason?: string): void;
	addEventListener(type: 'open' | 'error', listener: () => void): void;
	addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
	addEventListener(
		type: 'close',
		listener: (event: { code: number; reason: string }) => void,
	): void;
}

export interface Log {
	debug(message: string, details?: Record<string, unknown>): void;
	info(message: string, details?: Record<string, unknown>): void;
	warn(message: string, details?: Record<string, unknown>): void;
}
