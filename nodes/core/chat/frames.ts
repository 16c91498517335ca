import { randomUUID } from 'crypto';
import { hashOf } from '../values/hash';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../values/json';

/** A message, or the answer to an interactive message, which is a choice or free-form input. */
export type ClientFrame = { idempotency_key?: string } & (
	| { type: 'message'; content: string }
	| { type: 'interaction_response'; interaction_id: string; option_id: string }
	| { type: 'interaction_response'; interaction_id: string; response: string }
);

export interface OutgoingFrame {
	/** The frame as JSON. */
	text: string;
	/** Echoed on the ack. */
	messageId: string;
}

/** 192 bits. */
const ID_CHARS = 32;

/** Begins the message IDs of these nodes. */
export const OWN_PREFIX = 'n8n-';

/**
 * Adds a `message_id`, because only an echoed ID proves which frame an ack is about. With an idempotency key the ID is the
 * same for every attempt, because the service may compare the frames.
 */
export function outgoingFrame(frame: ClientFrame): OutgoingFrame {
	const id = frame.idempotency_key === undefined ? randomUUID() : hashOf(frame, ID_CHARS);
	const messageId = `${OWN_PREFIX}${id}`;
	return { text: JSON.stringify({ ...frame, message_id: messageId }), messageId };
}

/** `type` of the acknowledgement (`ack` in docs/asyncapi.yaml). */
const ACK_TYPE = 'ws_write_result';

/** The states of a message that the service accepted (`AckState` in docs/asyncapi.yaml). */
export const ACCEPTED_STATES = new Set<JsonValue | undefined>(['default', 'accepted', 'merged']);

/** The `payload` of an ack as received, including `reply`, `error`, and `message_id`. */
export type Ack = JsonObject & { state: string };

/** One event `{ type, session_id, account_id, ts, event_id, payload }`. */
export interface ChatEvent {
	type: string;
	/** For deduplication. Null if the service sent none. */
	eventId: string | null;
	/** The whole envelope as received. */
	envelope: JsonObject;
}

/** `sessionId`: null if the frame doesn't name its session. */
type ReceivedFrame = { sessionId: string | null } & (
	| { kind: 'ack'; ack: Ack }
	| { kind: 'event'; event: ChatEvent }
);

/** Parses a frame from the service. Null if it can't be read, such as an undocumented heartbeat. Never throws. */
export function parseFrame(frame: unknown): ReceivedFrame | null {
	const envelope = typeof frame === 'string' ? parseJson(frame) : undefined;
	if (!isJsonObject(envelope) || typeof envelope.type !== 'string') return null;
	const { type } = envelope;
	const sessionId = idText(envelope.session_id);
	if (type === ACK_TYPE) {
		const { payload } = envelope;
		return isAck(payload) ? { kind: 'ack', sessionId, ack: payload } : null;
	}
	const event = { type, eventId: idText(envelope.event_id), envelope };
	return { kind: 'event', sessionId, event };
}

function isAck(payload: JsonValue | undefined): payload is Ack {
	return isJsonObject(payload) && typeof payload.state === 'string';
}

/** The error of an ack, also if it isn't text as documented. Null if there is none. */
export function errorOfAck({ error }: Ack): string | null {
	if (error === undefined || error === null || error === false || error === '') return null;
	return typeof error === 'string' ? error : JSON.stringify(error);
}

/** The document doesn't give the type of IDs, so a number and its digits are the same ID. */
export function idText(value: JsonValue | undefined): string | null {
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' && value !== '' ? value : null;
}

/** A message as `message_received` shows it. */
export interface Message {
	role: 'user' | 'ai';
	content: string;
}

/** The messages that a frame has added to the chat, without an answer, whose text isn't documented. */
export function messagesOf(frame: ClientFrame, { state, reply }: Ack): Message[] {
	// `accepted` returns an earlier turn again, whose events came then.
	if (state !== 'default' && state !== 'merged') return [];
	const own: Message[] = 'content' in frame ? [{ role: 'user', content: frame.content }] : [];
	return typeof reply === 'string' ? [...own, { role: 'ai', content: reply }] : own;
}

/**
 * Whether an event shows this message. Only its role and text tell, because the document doesn't say that the `id` of the
 * event is the `message_id` of the frame or the ack.
 */
export function isMessage(event: ChatEvent, { role, content }: Message): boolean {
	const { payload } = event.envelope;
	if (event.type !== 'message_received' || !isJsonObject(payload)) return false;
	return payload.role === role && payload.content === content;
}
