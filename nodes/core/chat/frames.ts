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

/** The states of a message that the service accepted (`AckState` in docs/asyncapi.yaml). */
export const ACCEPTED_STATES = new Set<JsonValue | undefined>(['default', 'accepted', 'merged']);

/** The `payload` of an ack as received, including `reply`, `error`, and `message_id`. */
export type Ack = JsonObject & { state: string };

/** One event `{ type, session_id, account_id, ts, event_id, payload }`, or an ack, as received. */
export type ChatEvent = JsonObject & { type: string };

/** Null if the frame can't be read, such as an undocumented heartbeat. Never throws. */
export function parseFrame(frame: unknown): ChatEvent | null {
	const event = typeof frame === 'string' ? parseJson(frame) : undefined;
	return isJsonObject(event) && hasType(event) ? event : null;
}

const hasType = (event: JsonObject): event is ChatEvent => typeof event.type === 'string';

/** `type` of the acknowledgement (`ack` in docs/asyncapi.yaml). */
export const ACK_TYPE = 'ws_write_result';

export function isAck(payload: JsonValue | undefined): payload is Ack {
	return isJsonObject(payload) && typeof payload.state === 'string';
}

/** The error of an ack, also if it isn't text as documented. */
export function errorOfAck({ error }: Ack): string | undefined {
	if (error === undefined || error === null || error === false || error === '') return undefined;
	return typeof error === 'string' ? error : JSON.stringify(error);
}

/** The document doesn't give the type of IDs, so a number and its digits are the same ID. */
export function idText(value: JsonValue | undefined): string | null {
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' && value !== '' ? value : null;
}
