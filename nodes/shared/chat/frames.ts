import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json';

type SentIds = { message_id?: string; idempotency_key?: string };

/** "Frames sent by the client": a message, or the answer to an interactive message, which is a choice or free-form input. */
export type ClientFrame = SentIds &
	(
		| { type: 'message'; content: string }
		| { type: 'interaction_response'; interaction_id: string; option_id: string }
		| { type: 'interaction_response'; interaction_id: string; response: string }
	);

/** `type` of the acknowledgement (Events › Chat WebSocket). */
const ACK_TYPE = 'ws_write_result';

/** The states of a message that the service accepted (Events › Chat WebSocket). */
export const ACCEPTED_STATES = new Set<JsonValue | undefined>(['default', 'accepted', 'merged']);

/** The ack `{ type, session_id, account_id, payload }`. */
export interface Ack {
	state: string;
	/** As received, including `reply`, `error`, and `message_id`. */
	payload: JsonObject;
}

/** One event `{ type, session_id, account_id, ts, event_id, payload }`. */
export interface ChatEvent {
	type: string;
	/** For deduplication. Null if the service sent none. */
	eventId: string | null;
	payload: JsonObject;
	/** The whole envelope as received. */
	envelope: JsonObject;
}

/** `sessionId`: null if the frame doesn't name its session. */
export type ReceivedFrame = { sessionId: string | null } & (
	| { kind: 'ack'; ack: Ack }
	| { kind: 'event'; event: ChatEvent }
);

/** Parses a frame from the service. Null if it can't be read, such as an undocumented heartbeat. Never throws. */
export function parseFrame(frame: unknown): ReceivedFrame | null {
	const envelope = typeof frame === 'string' ? parseJson(frame) : undefined;
	if (!isJsonObject(envelope) || typeof envelope.type !== 'string') return null;
	const { type } = envelope;
	const sessionId = idText(envelope.session_id);
	const payload = isJsonObject(envelope.payload) ? envelope.payload : {};
	if (type === ACK_TYPE) {
		const { state } = payload;
		return typeof state === 'string' ? { kind: 'ack', sessionId, ack: { state, payload } } : null;
	}
	const event = { type, eventId: idText(envelope.event_id), payload, envelope };
	return { kind: 'event', sessionId, event };
}

/** The error of an ack, also if it isn't text as documented. Null if there is none. */
export function errorText({ payload: { error } }: Ack): string | null {
	if (error === undefined || error === null || error === false || error === '') return null;
	return typeof error === 'string' ? error : JSON.stringify(error);
}

/** The document doesn't give the type of IDs, so a number and its digits are the same ID. */
export function idText(value: JsonValue | undefined): string | null {
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' && value !== '' ? value : null;
}
