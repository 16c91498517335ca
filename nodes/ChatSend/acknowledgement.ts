import { ACCEPTED_STATES, type Ack, errorOfAck, idText } from '../core/chat/frames';
import { ExplainedError, OutcomeUnknown } from '../core/service/errors';
import { recordOf } from '../core/service/envelope';
import type { ApiResponse } from '../core/service/http';
import {
	fieldsIn,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	MAX_VALUES,
	valuesIn,
} from '../core/values/json';

const KEY_USED =
	'Use a different key for each message. Use the same key only to send the same content again in the same way.';

/** By the documented `error` of the state `invalid` (docs/asyncapi.yaml). */
const REJECTED: { [error: string]: string } = {
	invalid_input_type:
		"The session waits for other input. Use 'Answer Interaction' for an interactive message, and 'Send Message' for plain text.",
	agent_inactive: 'Activate the agent in the service. Then send the message again.',
	session_account_mismatch:
		"The session belongs to another account. Check 'Session ID'. In n8n, choose the credential of the session's account if it's right.",
	idempotency_key_reused: KEY_USED,
	idempotency_key_rail_conflict: KEY_USED,
	invalid_interaction:
		"Enter 'Interaction ID' and the answer exactly as in the interactive message. It may already be answered or replaced.",
};

/** What to do about a message whose outcome is unknown. */
const MAYBE_ACCEPTED =
	'The service may or may not have accepted the message. Only with the same idempotency key, it may be sent again. Without one, check the conversation in the service first.';

function maybeAccepted(message: string, originalMessage?: string): OutcomeUnknown {
	return new OutcomeUnknown(message, MAYBE_ACCEPTED, { originalMessage, origin: 'service' });
}

/**
 * The ack of an accepted message.
 *
 * @param ack null if none came
 * @throws ExplainedError if the message wasn't accepted, or isn't known to be
 */
export function acceptedAck(ack: Ack | null): Ack {
	if (ack === null) throw maybeAccepted("The message was sent, but the service didn't confirm it");
	const { state } = ack;
	const originalMessage = errorOfAck(ack);
	// An undocumented state without an error is passed through.
	const isAccepted = ACCEPTED_STATES.has(state) || (!isRefused(ack) && !originalMessage);
	if (isAccepted) return ack;
	if (state === 'busy') {
		throw new ExplainedError(
			'not_sent',
			'The service is too busy to accept the message',
			"The message wasn't accepted. Send it again later.",
			{ originalMessage, isTransient: true },
		);
	}
	if (state === 'invalid') {
		const advice = REJECTED[originalMessage ?? ''] ?? 'Check its values, then send it again.';
		const message = 'The service rejected the message';
		throw new ExplainedError('rejected', message, advice, { originalMessage });
	}
	throw maybeAccepted("The service couldn't process the message", originalMessage);
}

/**
 * Returns the response unless its `state` says that the message wasn't accepted. The document lists the values of `state`
 * only for the ack of a frame, and gives the ack of a completed turn the "same fields as the synchronous send response", so
 * `invalid`, `busy`, and `error` mean the same here. Other objects can have a `state`, too, so `busy` and `invalid` are
 * certain only with the documented `error`, and if no turn is shown before. Otherwise, the outcome is unknown.
 *
 * @throws ExplainedError
 */
export function requireAccepted(response: ApiResponse): ApiResponse {
	const record = recordOf(response);
	const objects = [record, ...valuesIn(response.body, MAX_VALUES)].filter(isJsonObject);
	const turn = objects.find((one) => isRefused(one) || showsTurn(one));
	if (turn === undefined || showsTurn(turn)) return response;
	const { state, error } = turn;
	const isDocumented = state === 'busy' ? error === 'server_busy' : isGiven(error);
	const isCertain = turn === record && isDocumented && typeof state === 'string';
	acceptedAck({ ...turn, state: isCertain ? state : 'error' });
	return response;
}

function isRefused({ state }: JsonObject): boolean {
	return state === 'invalid' || state === 'busy' || state === 'error';
}

/** A response has these fields only if the service accepted the message (`Turn` in docs/openapi.yaml). */
function showsTurn({ state, ...one }: JsonObject): boolean {
	const fields = [one.reply, one.turn_id, one.merged_into];
	return ACCEPTED_STATES.has(state) || fields.some(isGiven);
}

function isGiven(value: JsonValue | undefined): boolean {
	return typeof value === 'object' && value !== null
		? Object.keys(value).length > 0
		: idText(value) !== null;
}

const NO_REPLY =
	"The service accepted the message, and its response has no reply. With the mode support, a person has taken over the chat. Otherwise, the agent replies later, or has replied before. In n8n, get the reply with Chat Events Trigger: turn_result has the same turn_id (or merged_into), and message_received with the role ai has the agent's words. Chat Delivery Trigger gets later replies only.";

/** The output for an accepted message. If it has no reply at any depth, it says where the reply comes. */
export function withReplyHint(output: JsonObject): JsonObject {
	if ([...fieldsIn(output, ['reply'])].some(isGiven)) return output;
	return { ...output, reply: null, reply_hint: NO_REPLY };
}
