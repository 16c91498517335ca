import { hasValue, statusKey, type CallState } from '../../core/calls/callEnd';
import { type JsonObject, type JsonValue, valueAt } from '../../core/values/json';
import { comparable } from '../../core/values/text';
import { plainText, quoted } from '../../core/values/values';

/** The question of an item, and the settings to evaluate its answer. */
export type AskedQuestion = { question: string; yes: string[]; no: string[] };

/** The key of the answer. Unlikely to be a data point of the agent, because the value must be the answer to this question. */
export const ANSWER_KEY = 'answer_to_question';

/** Statuses of calls that nobody answered. */
const NOT_REACHED = ['not_picked', 'failed'].map(statusKey);

/** `unclear`: nothing else is certain. */
type Evaluation = [answer: 'yes' | 'no' | 'not_reached' | 'unclear', explanation: string];

/** Before it's read. */
const NEW_CALL: CallState = { record: {}, hasEnded: false };

/**
 * Adds the answer to a call.
 *
 * @param call the output, perhaps with fields of its input item, which don't count as evidence. `asked` is the question of the
 * call.
 * @param state of the call that the item waits for. Undefined if it waits for none.
 */
export function withAnswer(
	call: JsonObject,
	question: AskedQuestion,
	state: CallState | undefined,
): JsonObject {
	const { record } = state ?? NEW_CALL;
	const captured = valueAt(record, `data_captured.${ANSWER_KEY}`) ?? null;
	const [answer, explanation] =
		state === undefined && call.placed === false
			? notPlaced(call)
			: evaluateAnswer(state ?? NEW_CALL, captured, call.asked, question);
	const hasAnswered = answer === 'yes' || answer === 'no';
	const answered = {
		...{ answer, explanation, captured_answer: captured },
		asked_at: call.asked_at ?? null,
		answered_at: hasAnswered ? (record.call_picked_at ?? null) : null,
	};
	// First, because a table cuts off the last columns.
	return { ...answered, ...call, ...answered };
}

function notPlaced(call: JsonObject): Evaluation {
	const { not_placed_reason: reason, next_opening, next_call_possible_at } = call;
	const from = next_opening ?? next_call_possible_at;
	const again = from === undefined ? '' : ` Ask again from ${plainText(from)}.`;
	return ['not_reached', `No call was placed (${plainText(reason)}).${again}`];
}

/** Evaluates the captured value. The answer is yes only if one of its values was captured in a completed call. */
function evaluateAnswer(
	{ record, hasEnded, readFailure }: CallState,
	captured: JsonValue,
	asked: JsonValue | undefined,
	question: AskedQuestion,
): Evaluation {
	if (readFailure !== undefined) return ['unclear', `The answer is unknown. ${readFailure}`];
	const status = `status ${quoted(record.status ?? null)}`;
	if (typeof record.status === 'string' && NOT_REACHED.includes(statusKey(record.status))) {
		return ['not_reached', `The person wasn't reached (${status}).`];
	}
	if (!hasEnded) return ['unclear', "The call wasn't completed when the wait ended."];
	if (!hasValue(captured)) {
		return ['unclear', `The call is completed (${status}), but has no captured answer.`];
	}
	const answer = quoted(captured);
	if (asked !== question.question) {
		const changed = `the question was changed after this call, which asked ${quoted(asked)}`;
		return ['unclear', `${answer} was captured, but ${changed}.`];
	}
	for (const value of ['yes', 'no'] as const) {
		if (isOneOf(captured, question[value])) return [value, `The person said ${value} (${answer}).`];
	}
	return ['unclear', `${answer} was captured, which counts neither as yes nor as no.`];
}

function isOneOf(captured: JsonValue, values: readonly string[]): boolean {
	if (typeof captured === 'object') return false;
	const comparableValue = comparable(captured);
	return values.some((value) => comparable(value) === comparableValue);
}
