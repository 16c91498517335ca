import type { IExecuteFunctions } from 'n8n-workflow';
import type { ApiResponse } from '../core/service/http';
import { MAX_RESPONSE_VALUES } from '../core/chat/chatRequests';
import { ACCEPTED_STATES, idText } from '../core/chat/frames';
import {
	fieldsIn,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	valuesIn,
} from '../core/values/json';
import { callerOf } from '../host/caller/caller';
import { turnFault } from './turnFault';

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
	const ack = { state: isCertain ? state : 'error', payload };
	const fault = turnFault({ kind: 'ack', ack, isRepeat: false });
	if (fault !== null) throw fault;
	return response;
}

function objectsIn(body: JsonValue): JsonObject[] {
	return [...valuesIn(body, MAX_RESPONSE_VALUES)].filter(isJsonObject);
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

/** Why an accepted message has no reply, and for people what follows. */
const REPLIED_ELSEWHERE = [
	'The service accepted the message, and its response has no reply.',
	"To get the reply, watch the session with Chat Events Trigger: turn_result has the same turn_id (or merged_into), and message_received with the role ai has the agent's words. Chat Delivery Trigger gets later replies only.",
] as const;

const TAKEN_OVER = [
	"A person has taken over this chat, so the agent doesn't reply.",
	'The Chat Events Trigger reports with mode_changed when the agent has the chat again.',
] as const;

/**
 * The output for an accepted message. If it has no reply at any depth, `reply` is null, and `reply_hint` says where the
 * reply comes.
 *
 * @param isAsync whether the reply comes later, whatever the response shows
 */
export function withReplyHint(
	context: IExecuteFunctions,
	output: JsonObject,
	isAsync = false,
): JsonObject {
	if ([...fieldsIn(output, ['reply'])].some(isGiven)) return output;
	const { state } = turnIn(output);
	// Whatever its state is called, which the document shows only for acks.
	const isTakenOver = [...fieldsIn(output, ['mode'])].includes('support');
	const isElsewhere = isAsync || (state !== 'default' && ACCEPTED_STATES.has(state));
	if (!isTakenOver && !isElsewhere) return output;
	const [why, next] = isTakenOver ? TAKEN_OVER : REPLIED_ELSEWHERE;
	const isForModel = callerOf(context).reader === 'forModel';
	return { ...output, reply: null, reply_hint: isForModel ? why : `${why} ${next}` };
}
