import type { SendResult } from '../core/chat/sender';
import { ACCEPTED_STATES, type Ack, errorOfAck, idText } from '../core/chat/frames';
import { ExplainedError, failedRepeat, OutcomeUnknown } from '../core/service/errors';
import type { ApiResponse } from '../core/service/http';
import type { Explanation } from '../core/service/explanation';
import {
	fieldsIn,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	MAX_VALUES,
	valuesIn,
} from '../core/values/json';

const MAYBE = 'The service may or may not have accepted the message';

const KEY_USED = {
	message: 'The idempotency key was already used',
	resolution:
		'Use a different key for each message. Use the same key only to send the same content again in the same way.',
};

/** By the state of the ack, for `invalid` with its documented `error` (docs/asyncapi.yaml). */
const FAULTS = {
	'invalid invalid_input_type': {
		message: "The service doesn't accept this kind of input now",
		resolution:
			"Check what the session is waiting for. Use 'Answer Interaction' for an interactive message, and 'Send Message' for plain text.",
	},
	'invalid agent_inactive': {
		message: 'The agent of this session is inactive',
		resolution: 'Activate the agent in the service. Then send the message again.',
	},
	'invalid session_account_mismatch': {
		message: 'The session belongs to another account',
		resolution:
			"Check 'Session ID'. In n8n, choose the credential of the session's account if it's right.",
	},
	'invalid idempotency_key_reused': KEY_USED,
	'invalid idempotency_key_rail_conflict': KEY_USED,
	'invalid invalid_interaction': {
		message: 'The service rejected this answer to the interactive message',
		resolution:
			"Enter 'Interaction ID' and the answer exactly as in the interactive message. It may already be answered or replaced.",
	},
	rejected: {
		message: 'The service rejected the message',
		resolution: 'Check the values of the message, then send it again.',
	},
	busy: {
		message: 'The service is too busy to accept the message',
		resolution: "The message wasn't accepted. Send it again later.",
	},
	error: {
		message: "The service couldn't process the message",
		resolution: `${MAYBE}. Before anybody sends it again, check the conversation in the service.`,
	},
	unconfirmed: {
		message: "The message was sent, but the service didn't confirm it",
		resolution: `${MAYBE}, so it wasn't sent again. Before anybody does, check the conversation in the service.`,
	},
	'unconfirmed with a key': {
		message: "The message was sent, but the service didn't confirm it",
		resolution: `${MAYBE}. Only with the same idempotency key, it may be sent again.`,
	},
} satisfies { [cause: string]: Explanation };

const isCause = (text: string): text is keyof typeof FAULTS => Object.hasOwn(FAULTS, text);

function fault(cause: keyof typeof FAULTS, originalMessage?: string): ExplainedError {
	const { message, resolution } = FAULTS[cause];
	if (cause === 'error' || cause.startsWith('unconfirmed')) {
		return new OutcomeUnknown(message, resolution, { originalMessage, origin: 'service' });
	}
	const isTransient = cause === 'busy';
	const outcome = isTransient ? 'not_sent' : 'rejected';
	return new ExplainedError(outcome, message, resolution, { originalMessage, isTransient });
}

/**
 * The ack of an accepted message.
 *
 * @throws ExplainedError if the message wasn't accepted, or isn't known to be
 */
export function acceptedAck({ ack, isRepeat }: SendResult, hasKey: boolean): Ack {
	if (ack === null) throw fault(hasKey ? 'unconfirmed with a key' : 'unconfirmed');
	const { state } = ack;
	const originalMessage = errorOfAck(ack);
	const isKnown = state === 'busy' || state === 'error' || state === 'invalid';
	// An undocumented state without an error is passed through.
	if (ACCEPTED_STATES.has(state) || (!isKnown && originalMessage === undefined)) return ack;
	// Another attempt may have been accepted.
	if (isRepeat) throw failedRepeat({ originalMessage, origin: 'service' });
	if (state === 'error' || state === 'busy') throw fault(state, originalMessage);
	const cause = `${state} ${originalMessage}`;
	if (isCause(cause)) throw fault(cause, originalMessage);
	const isBare = state === 'invalid' || originalMessage === undefined;
	throw fault('rejected', isBare ? originalMessage : `${originalMessage} (state ${state})`);
}

/** A response has these fields only if the service accepted the message (`Turn` in docs/openapi.yaml). */
const TURN_FIELDS = ['reply', 'turn_id', 'merged_into'];

/**
 * Returns the response unless its `state` says that the message wasn't accepted. The document lists the values of `state`
 * only for the ack of a frame, and gives the ack of a completed turn the "same fields as the synchronous send response", so
 * `invalid`, `busy`, and `error` mean the same here. Other objects can have a `state`, too, so `busy` and `invalid` are
 * certain only with the documented `error`, and if nothing else shows a turn. Otherwise, the outcome is unknown.
 *
 * @throws ExplainedError
 */
export function requireAccepted(response: ApiResponse): ApiResponse {
	const payload = turnIn(response.body);
	if (!isRejected(payload) || showsTurn(payload)) return response;
	const { state, error } = payload;
	const isDocumented = state === 'busy' ? error === 'server_busy' : isGiven(error);
	const isCertain = isDocumented && !objectsIn(response.body).some(showsTurn);
	const ack = { ...payload, state: isCertain ? state : 'error' };
	acceptedAck({ ack, isRepeat: false }, false);
	return response;
}

function objectsIn(body: JsonValue): JsonObject[] {
	return [...valuesIn(body, MAX_VALUES)].filter(isJsonObject);
}

/** The outermost object with a state of a message or a turn, which is about the message. A session has other states. */
function turnIn(body: JsonValue): JsonObject {
	return objectsIn(body).find((one) => isRejected(one) || showsTurn(one)) ?? {};
}

function isRejected(one: JsonObject): one is JsonObject & { state: string } {
	const { state } = one;
	return state === 'invalid' || state === 'busy' || state === 'error';
}

function showsTurn(payload: JsonObject): boolean {
	return ACCEPTED_STATES.has(payload.state) || TURN_FIELDS.some((name) => isGiven(payload[name]));
}

function isGiven(value: JsonValue | undefined): boolean {
	return typeof value === 'object' && value !== null
		? Object.keys(value).length > 0
		: idText(value) !== null;
}

const BY_TRIGGER =
	"Chat Events Trigger: turn_result has the same turn_id (or merged_into), and message_received with the role ai has the agent's words. Chat Delivery Trigger gets later replies only.";

/** Why an accepted message has no reply. */
const REPLIED_ELSEWHERE = `The service accepted the message, and its response has no reply. In n8n, get the reply with ${BY_TRIGGER}`;

/** State `accepted` of an ack: "replays an already-accepted turn". */
const REPLIED_BEFORE = `The service accepted this message before, and its response has no reply. The agent may have replied then, so look at the conversation in the service. In n8n, get a later reply with ${BY_TRIGGER}`;

const TAKEN_OVER =
	"A person has taken over this chat, so the agent doesn't reply. In n8n, Chat Events Trigger reports with mode_changed when the agent has the chat again.";

/**
 * The output for an accepted message. If it has no reply at any depth, `reply` is null, and `reply_hint` says where the
 * reply comes.
 *
 * @param isAsync whether the reply comes later, whatever the response shows
 */
export function withReplyHint(output: JsonObject, isAsync = false): JsonObject {
	if ([...fieldsIn(output, ['reply'])].some(isGiven)) return output;
	const { state } = turnIn(output);
	// Whatever its state is called, which the document shows only for acks.
	const isTakenOver = [...fieldsIn(output, ['mode'])].includes('support');
	const isElsewhere = isAsync || (state !== 'default' && ACCEPTED_STATES.has(state));
	if (!isTakenOver && !isElsewhere) return output;
	const replied = state === 'accepted' && !isAsync ? REPLIED_BEFORE : REPLIED_ELSEWHERE;
	return { ...output, reply: null, reply_hint: isTakenOver ? TAKEN_OVER : replied };
}
