import isEmpty from 'lodash/isEmpty';
import omit from 'lodash/omit';
import { hasValue, statusKey, type CallState } from '../../core/calls/callEnd';
import { isJsonObject, type JsonValue, valueAt } from '../../core/values/json';
import { comparable } from '../../core/values/text';
import { plainText, quoted } from '../../core/values/values';

/** The question of a call, and the settings to evaluate its answer. Stored with the call, and part of the output. */
export type AskedQuestion = {
	question: string;
	/** The current question, if an earlier attempt placed the call with another one. */
	changed_to?: string;
	yes: string[];
	no: string[];
};

/** The key of the answer. Unlikely to be a data point of the agent, because the value must be the answer to this question. */
export const ANSWER_KEY = 'answer_to_question';

/** Statuses of calls that nobody answered. */
const NOT_REACHED = ['not_picked', 'failed'].map(statusKey);

/** `unclear`: nothing else is certain. */
export type Answer = 'yes' | 'no' | 'not_reached' | 'unclear';

/** Fields of the record or the item that n8n would read instead of `data`. */
const BEFORE_DATA = ['approved', 'chatInput'] as const;

type Evaluation = { answer: Answer; explanation: string };

/** The fields that are added to the call. */
export type Answered = Evaluation & {
	captured_answer: JsonValue;
	/** When the call was placed. */
	asked_at: string | null;
	/** When the person picked up the call in which they answered. */
	answered_at: JsonValue;
	/** For n8n's human review: whether the tool is approved, and the text for the model if it isn't. */
	data: { approved: boolean; chatInput: string };
	asked: AskedQuestion;
};

/**
 * Adds the answer to a call, in the format of n8n's approvals. A call without a question stays unchanged.
 *
 * @param call the output, perhaps with fields of its input item, which don't count as evidence
 * @param known the state of the call that the item waits for. Undefined if no call was placed for it, or none was read yet.
 */
export function withAnswer<Call extends object>(
	call: Call,
	asked: unknown,
	known?: CallState,
): Call | (Omit<Call, (typeof BEFORE_DATA)[number]> & Answered) {
	if (!isAsked(asked)) return call;
	const state = known ?? { record: {}, hasEnded: false };
	const captured = valueAt(state.record, `data_captured.${ANSWER_KEY}`) ?? null;
	// An item may wait for another item's call, which asked the same.
	const isNotPlaced =
		'not_placed_reason' in call && Boolean(call.not_placed_reason) && known === undefined;
	const { answer, explanation } = isNotPlaced
		? notReached(`No call was placed (${String(call.not_placed_reason)}).`)
		: isScheduled(call, state)
			? unclear('The call is scheduled for a later time, so nobody has answered yet.')
			: evaluateAnswer(state, captured, asked);
	const hasAnswered = answer === 'yes' || answer === 'no';
	const answered = {
		...{ answer, explanation, captured_answer: captured },
		asked_at: 'asked_at' in call ? plainText(call.asked_at) || null : null,
		answered_at: hasAnswered ? (state.record.call_picked_at ?? null) : null,
	};
	return {
		// First, because a table cuts off the last columns.
		...answered,
		...omit(call, ...BEFORE_DATA),
		...answered,
		data: reviewResult(answer === 'yes', explanation),
		asked,
	};
}

/** Whether the call was accepted for another time, and wasn't read since. */
function isScheduled(call: object, { record, hasEnded, readFailure }: CallState): boolean {
	return 'scheduled_for' in call && isEmpty(record) && !hasEnded && readFailure === undefined;
}

/** The output of a human review if the person wasn't asked, or may not have been asked. */
export function withoutAnswer(explanation: string): Omit<Answered, 'asked'> {
	return {
		answer: 'unclear',
		explanation,
		captured_answer: null,
		asked_at: null,
		answered_at: null,
		data: reviewResult(false, explanation),
	};
}

/** With the text that n8n passes to the model if its tool wasn't approved. */
function reviewResult(approved: boolean, explanation: string): Answered['data'] {
	if (approved) return { approved, chatInput: explanation };
	const chatInput = `${explanation} This is not an approval. Do not use the tool unless the user asks for it again.`;
	return { approved, chatInput };
}

/** Evaluates the captured value. The answer is yes only if one of its values was captured in a completed call. */
function evaluateAnswer(
	{ record, hasEnded, readFailure }: CallState,
	captured: JsonValue,
	asked: AskedQuestion,
): Evaluation {
	if (readFailure !== undefined) return unclear(`The answer is unknown. ${readFailure}`);
	const status = `status ${quoted(record.status ?? null)}`;
	if (typeof record.status === 'string' && NOT_REACHED.includes(statusKey(record.status))) {
		return notReached(`The person wasn't reached (${status}).`);
	}
	if (!hasEnded) return unclear("The call wasn't completed when the wait ended.");
	if (!hasValue(captured)) {
		return unclear(`The call is completed (${status}), but has no captured answer.`);
	}
	const answer = quoted(captured);
	if (asked.changed_to !== undefined) {
		return unclear(
			`${answer} was captured, but the question was changed after this call, which asked ${quoted(asked.question)}.`,
		);
	}
	for (const value of ['yes', 'no'] as const) {
		if (isOneOf(captured, asked[value])) {
			return { answer: value, explanation: `The person said ${value} (${answer}).` };
		}
	}
	return unclear(`${answer} was captured, which counts neither as yes nor as no.`);
}

function notReached(explanation: string): Evaluation {
	return { answer: 'not_reached', explanation };
}

function unclear(explanation: string): Evaluation {
	return { answer: 'unclear', explanation };
}

function isOneOf(captured: JsonValue, values: readonly string[]): boolean {
	if (typeof captured === 'object') return false;
	const comparableValue = comparable(captured);
	return values.some((value) => comparable(value) === comparableValue);
}

/**
 * The settings for the answer of a call that an earlier attempt may have placed.
 *
 * @param question the question of that call, if known
 */
export function askedBy(question: unknown, asked: AskedQuestion): AskedQuestion {
	if (typeof question !== 'string' || question === asked.question) return asked;
	return { ...asked, question, changed_to: asked.question };
}

/** Checks the stored settings of a waiting execution. */
function isAsked(value: unknown): value is AskedQuestion {
	if (!isJsonObject(value)) return false;
	return [value.yes, value.no].every(
		(list) => Array.isArray(list) && list.every((one) => typeof one === 'string'),
	);
}
