import { isJsonObject, isTooDeepText, type JsonObject, type JsonValue, parseJson } from '../json';
import { fingerprint } from '../hash';

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

/** The ack `{ type, session_id, account_id, payload }`. */
export interface Ack {
	state: string;
	/** As received, including `reply`, `error`, and `message_id`. */
	payload: JsonObject;
}

/** One event `{ type, session_id, account_id, ts, event_id, payload }`. */
export interface ChatEvent {
	type: string;
	/** For deduplication. Null if the service sent none and the event can't be distinguished from similar ones. */
	eventId: string | null;
	payload: JsonObject;
	/** The whole envelope as received. */
	envelope: JsonObject;
}

export type IgnoredFrame =
	| 'binary'
	| 'too_deep'
	| 'not_json'
	| 'not_an_object'
	| 'no_type'
	| 'no_state';

export type ReceivedFrame =
	| { kind: 'ack'; ack: Ack }
	| { kind: 'event'; event: ChatEvent }
	| { kind: 'ignored'; why: IgnoredFrame };

/** Parses a frame from the service. Never throws. */
export function parseFrame(frame: unknown): ReceivedFrame {
	if (typeof frame !== 'string') return { kind: 'ignored', why: 'binary' };
	const envelope = parseJson(frame);
	if (envelope === undefined) {
		return { kind: 'ignored', why: isTooDeepText(frame) ? 'too_deep' : 'not_json' };
	}
	if (!isJsonObject(envelope)) return { kind: 'ignored', why: 'not_an_object' };
	const { type } = envelope;
	if (typeof type !== 'string') return { kind: 'ignored', why: 'no_type' };
	const payload = isJsonObject(envelope.payload) ? envelope.payload : {};
	if (type === ACK_TYPE) {
		const { state } = payload;
		return typeof state === 'string'
			? { kind: 'ack', ack: { state, payload } }
			: { kind: 'ignored', why: 'no_state' };
	}
	const eventId = idText(envelope.event_id) ?? idByText(frame, envelope, payload);
	return { kind: 'event', event: { type, eventId, payload, envelope } };
}

/**
 * The ID of an event without `event_id`. An identical frame that has a time and the ID of its message or turn is the same
 * event, for example on two sockets at the same time, because a message is added once and a turn has one result. Other
 * events get no ID.
 */
function idByText(text: string, { type, ts }: JsonObject, payload: JsonObject): string | null {
	const subjectId =
		type === 'message_received' ? payload.id : type === 'turn_result' ? payload.turn_id : null;
	return idText(subjectId) === null || idText(ts) === null ? null : fingerprint(text);
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
