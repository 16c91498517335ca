import type { IExecuteFunctions } from 'n8n-workflow';
import type { ApiResponse } from '../shared/api/http';
import { MAX_RESPONSE_VALUES } from '../shared/chat/chatRequests';
import { ACCEPTED_STATES, type Ack, idText } from '../shared/chat/frames';
import {
	fieldsIn,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	levelsIn,
	valuesIn,
} from '../shared/json';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { turnFault } from './turnFault';

/** A response has these fields only if the service accepted the message (Chat › `POST /v1/chat/inbound`). */
const TURN_FIELDS = ['reply', 'turn_id', 'merged_into'];

/**
 * Returns the response unless its `state` says that the message wasn't accepted. The document lists the values of `state`
 * only for the ack of a frame, and gives the ack of a completed turn the "same fields as the synchronous send response", so
 * `invalid`, `busy`, and `error` mean the same here. The outermost object with such a state or with a turn is about the
 * message. Deeper ones may be about something else, such as a tool result. If a turn appears beside the state or deeper,
 * it can be an earlier one, so the outcome is unknown.
 *
 * @throws ChatTurnFault, OutcomeUnknown
 */
export function requireAccepted(response: ApiResponse): ApiResponse {
	for (const level of levelsIn(response.body, MAX_RESPONSE_VALUES)) {
		const objects = level.filter(isJsonObject);
		const acks = objects.map((one) => (showsTurn(one) ? null : notAccepted(one)));
		const ack = acks.find((one) => one !== null) ?? null;
		if (ack !== null) {
			const turnValues = [...fieldsIn(response.body, TURN_FIELDS)];
			const isContradicted = objects.some(showsTurn) || turnValues.some(isGiven);
			const certain = isContradicted ? { ...ack, state: 'error' } : ack;
			const fault = turnFault({ kind: 'ack', ack: certain, missingBefore: null });
			if (fault !== null) throw fault;
		}
		if (objects.some(showsTurn)) return response;
	}
	return response;
}

function showsTurn(payload: JsonObject): boolean {
	const turnValues = TURN_FIELDS.map((name) => payload[name]);
	return ACCEPTED_STATES.has(payload.state) || turnValues.some(isGiven);
}

function isGiven(value: JsonValue | undefined): boolean {
	return typeof value === 'object' && value !== null
		? Object.keys(value).length > 0
		: idText(value) !== null;
}

/**
 * What the object says like an ack, if that isn't that the message was accepted. `busy` and `invalid` are certain only
 * with the documented `error`, because other objects can have a `state`, too. Otherwise, it counts as `error`.
 */
function notAccepted(payload: JsonObject): Ack | null {
	const { state, error } = payload;
	if (state !== 'invalid' && state !== 'busy' && state !== 'error') return null;
	const isCertain =
		state === 'busy' ? error === 'server_busy' : typeof error === 'string' && error !== '';
	return { state: isCertain ? state : 'error', payload };
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
 * reply comes. The outermost object with an accepted state is the turn.
 *
 * @param isAsync whether the reply comes later, whatever the response shows
 */
export function withReplyHint(
	context: IExecuteFunctions,
	output: JsonObject,
	isAsync = false,
): JsonObject {
	if ([...fieldsIn(output, ['reply'])].some(isGiven)) return output;
	const objects = [...valuesIn(output, MAX_RESPONSE_VALUES)].filter(isJsonObject);
	const turn = objects.find(({ state }) => ACCEPTED_STATES.has(state));
	const isTakenOver = turn?.state === 'default' && turn.mode === 'support';
	const isElsewhere = isAsync || (turn !== undefined && turn.state !== 'default');
	if (!isTakenOver && !isElsewhere) return output;
	const [why, next] = isTakenOver ? TAKEN_OVER : REPLIED_ELSEWHERE;
	return { ...output, reply: null, reply_hint: runsAsTool(context) ? why : `${why} ${next}` };
}
