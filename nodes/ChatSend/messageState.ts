import type { Answer } from '../shared/api/http';
import { readAck } from '../shared/chat/frames';
import { fieldsIn, isJsonObject, type JsonObject, valuesIn } from '../shared/json';
import type { TurnOutcome } from '../shared/chat/turn';
import { faultOf } from './turnFault';

/** What a response shows only if the service has taken the message (Chat › `POST /v1/chat/inbound`). */
const SIGNS_OF_A_TURN = ['reply', 'turn_id', 'merged_into'];

/** A response with more values isn't searched further. */
const MAX_VALUES = 10_000;

/**
 * The response, unless its `state` says that the message was not taken. The document lists the values of `state` for the ack
 * of a frame only, and says of a completed turn that it has the "same fields as the synchronous send response". So
 * `invalid`, `busy` and `error` mean the same here, if nothing in the response shows a turn.
 *
 * @throws ChatTurnFault, OutcomeUnknown
 */
export function requireTaken(answer: Answer): Answer {
	for (const sign of fieldsIn(answer.body, ...SIGNS_OF_A_TURN)) {
		if (sign !== null && sign !== '') return answer;
	}
	for (const value of valuesIn(answer.body, MAX_VALUES)) {
		const outcome = isJsonObject(value) ? notTaken(value) : null;
		if (outcome !== null) throw faultOf(outcome);
	}
	return answer;
}

/** `busy` and `invalid` are certain only with the `error` that the document gives them: other objects have a `state`, too. */
function notTaken(payload: JsonObject): TurnOutcome | null {
	const { state } = payload;
	if (typeof state !== 'string') return null;
	const ack = readAck(state, payload);
	const hasReason = ack.error !== null && ack.error !== '';
	if (state === 'invalid' && hasReason) return { kind: 'invalid', ack, code: ack.error };
	if (state === 'busy' && ack.error === BUSY_ERROR) return { kind: 'busy', ack, tries: 1 };
	const isFault = state === 'invalid' || (hasReason && (state === 'busy' || state === 'error'));
	return isFault ? { kind: 'failed', ack } : null;
}

const BUSY_ERROR = 'server_busy';
