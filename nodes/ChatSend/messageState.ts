import type { ApiResponse } from '../shared/api/http';
import { ACCEPTED_STATES, MAX_RESPONSE_VALUES } from '../shared/chat/chatRequests';
import { idText, readAck } from '../shared/chat/frames';
import { fieldsIn, isJsonObject, type JsonObject, type JsonValue, levelsIn } from '../shared/json';
import type { TurnOutcome } from '../shared/chat/turn';
import { faultOf } from './turnFault';

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
		const outcomes = objects.map((one) => (showsTurn(one) ? null : notAccepted(one)));
		const outcome = outcomes.find((one) => one !== null) ?? null;
		if (outcome !== null) {
			const turnValues = [...fieldsIn(response.body, ...TURN_FIELDS)];
			const isContradicted = objects.some(showsTurn) || turnValues.some(isGiven);
			throw faultOf(isContradicted ? { kind: 'failed', ack: outcome.ack } : outcome);
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

type NotAccepted = Extract<TurnOutcome, { kind: 'invalid' | 'busy' | 'failed' }>;

/** `busy` and `invalid` are certain only with the documented `error`, because other objects can have a `state`, too. */
function notAccepted(payload: JsonObject): NotAccepted | null {
	const { state } = payload;
	if (typeof state !== 'string') return null;
	const ack = readAck(state, payload);
	const hasReason = ack.error !== null && ack.error !== '';
	if (state === 'invalid' && hasReason) return { kind: 'invalid', ack, code: ack.error };
	if (state === 'busy' && ack.error === BUSY_ERROR) return { kind: 'busy', ack, attempts: 1 };
	const isFault = state === 'invalid' || (hasReason && (state === 'busy' || state === 'error'));
	return isFault ? { kind: 'failed', ack } : null;
}

const BUSY_ERROR = 'server_busy';
