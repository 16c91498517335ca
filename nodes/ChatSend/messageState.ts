import type { ApiResponse } from '../shared/api/http';
import { idText, readAck } from '../shared/chat/frames';
import { fieldsIn, isJsonObject, type JsonObject, type JsonValue } from '../shared/json';
import type { TurnOutcome } from '../shared/chat/turn';
import { faultOf } from './turnFault';

/** What a response shows only if the service has taken the message (Chat › `POST /v1/chat/inbound`). */
const SIGNS_OF_A_TURN = ['reply', 'turn_id', 'merged_into'];

/** States of a message that was taken. */
const TAKEN = new Set<JsonValue | undefined>(['default', 'accepted', 'merged']);

/** A response with more values isn't searched further. */
const MAX_VALUES = 10_000;

/**
 * The response, unless its `state` says that the message was not taken. The document lists the values of `state` for the ack
 * of a frame only, and says of a completed turn that it has the "same fields as the synchronous send response". So
 * `invalid`, `busy` and `error` mean the same here. The outermost object that has such a state, or shows a turn, is about
 * the message: what is deeper, such as the result of a tool, is not. If a turn is shown beside the state or deeper, it can be
 * an earlier one, and nobody knows whether the message was taken.
 *
 * @throws ChatTurnFault, OutcomeUnknown
 */
export function requireTaken(answer: ApiResponse): ApiResponse {
	for (const level of levelsIn(answer.body)) {
		const objects = level.filter(isJsonObject);
		const outcomes = objects.map((one) => (showsTurn(one) ? null : notTaken(one)));
		const outcome = outcomes.find((one) => one !== null) ?? null;
		if (outcome !== null) {
			const signs = [...fieldsIn(answer.body, ...SIGNS_OF_A_TURN)];
			const isContradicted = objects.some(showsTurn) || signs.some(isGiven);
			throw faultOf(isContradicted ? { kind: 'failed', ack: outcome.ack } : outcome);
		}
		if (objects.some(showsTurn)) return answer;
	}
	return answer;
}

function* levelsIn(root: JsonValue): Generator<JsonValue[]> {
	let level = [root];
	for (let left = MAX_VALUES; level.length > 0; left -= level.length) {
		yield level;
		const inner = level.flatMap((value) =>
			typeof value === 'object' && value !== null ? Object.values(value) : [],
		);
		level = inner.slice(0, Math.max(left, 0));
	}
}

function showsTurn(payload: JsonObject): boolean {
	const signs = SIGNS_OF_A_TURN.map((name) => payload[name]);
	return TAKEN.has(payload.state) || signs.some(isGiven);
}

function isGiven(value: JsonValue | undefined): boolean {
	return typeof value === 'object' && value !== null
		? Object.keys(value).length > 0
		: idText(value) !== null;
}

type NotTaken = Extract<TurnOutcome, { kind: 'invalid' | 'busy' | 'failed' }>;

/** `busy` and `invalid` are certain only with the `error` that the document gives them: other objects have a `state`, too. */
function notTaken(payload: JsonObject): NotTaken | null {
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
