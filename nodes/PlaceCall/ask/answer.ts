import omit from 'lodash/omit';
import { hasValue, type CallState } from '../../shared/calls/callEnd';
import { isJsonObject, type JsonValue, valueAt } from '../../shared/json';
import { quoted } from '../../shared/values';

/** What was asked in a call, and how the answer is told: all of it is the user's choice. It stays with the call. */
export type AskedQuestion = {
	question: string;
	/** What is to be asked by now, where the call was placed by an earlier try with another question. */
	changed_to?: string;
	/** Whether the answer is to be a yes or a no, or anything. */
	response_type: 'approval' | 'freeText';
	yes: string[];
	no: string[];
	/** Where the answer stands in the call record. */
	answer_path: string;
	/** Statuses of a call that nobody took. */
	not_reached: string[];
};

/** `answered` where any answer will do; `unclear` wherever nothing else is certain. */
export type Answer = 'yes' | 'no' | 'answered' | 'not_reached' | 'unclear';

/** What n8n would read before `data`, if the record or the item had it. */
const BEFORE_DATA = ['approved', 'chatInput'] as const;

type Judgement = { answer: Answer; explanation: string };

/** What comes out beside the call. */
export type Answered = Judgement & {
	/** The evidence: what the record holds in the answer's place. */
	captured_answer: JsonValue;
	/** What n8n reads: whether a tool may be used, and what its model is told where it may not. */
	data: { approved: boolean; chatInput: string };
	asked: AskedQuestion;
};

/**
 * A call with the answer beside it, in the form in which n8n reads an approval; as it is where nothing was asked.
 *
 * @param call as it comes out, perhaps with fields of its item, which are no evidence of anything
 * @param known what the service itself says of the call, where it was read
 */
export function withAnswer<Call extends object>(
	call: Call,
	asked: unknown,
	known: CallState = { record: {}, hasEnded: false },
): Call | (Omit<Call, (typeof BEFORE_DATA)[number]> & Answered) {
	if (!isAsked(asked)) return call;
	const captured = valueAt(known.record, asked.answer_path) ?? null;
	const isKept = 'placed' in call && call.placed === false;
	const isFound = 'looked_up' in call && call.looked_up === true && known.isReported !== true;
	const { answer, explanation } = isKept
		? NOT_PLACED
		: evaluateAnswer(known, captured, asked, isFound);
	return {
		...omit(call, ...BEFORE_DATA),
		answer,
		explanation,
		captured_answer: captured,
		data: { approved: answer === 'yes', chatInput: forModel(answer, explanation) },
		asked,
	};
}

/** What comes out where the person could not be asked, or nobody knows whether they were. */
export function withoutAnswer(why: string): Omit<Answered, 'asked'> {
	const explanation = `No answer is known. ${why}`;
	return {
		answer: 'unclear',
		explanation,
		captured_answer: null,
		data: { approved: false, chatInput: forModel('unclear', explanation) },
	};
}

/** What n8n hands to the model whose tool was not approved. */
function forModel(answer: Answer, explanation: string): string {
	if (answer === 'yes' || answer === 'answered') return explanation;
	return `${explanation} This is no approval: do not use the tool unless the user asks for it again.`;
}

const NOT_PLACED: Judgement = {
	answer: 'not_reached',
	explanation: 'Nobody was called, because it is outside Calling Hours.',
};

/**
 * The answer for which there is evidence: a yes only where one of its values was captured in a call that is over.
 *
 * @param isFound whether the call was found in the list by its number and time, which another question's may have as well
 */
function evaluateAnswer(
	{ record, hasEnded, readFailure }: CallState,
	captured: JsonValue,
	asked: AskedQuestion,
	isFound: boolean,
): Judgement {
	const status = quoted(record.status ?? null);
	const isMissed = typeof record.status === 'string' && asked.not_reached.includes(record.status);
	const wasNotRead = !hasEnded && readFailure !== undefined;
	if (wasNotRead && isMissed) {
		return told(
			'unclear',
			`The call had the status ${status} when it was last read. ${readFailure}`,
		);
	}
	if (!hasValue(captured)) {
		if (isMissed) return told('not_reached', `The person was not reached (status ${status}).`);
		if (readFailure !== undefined) return told('unclear', `No answer is known. ${readFailure}`);
		if (!hasEnded) return told('unclear', 'The call was not over when the wait ended.');
		return told('unclear', `The call is over (status ${status}), and it holds no answer.`);
	}
	const answer = quoted(captured);
	if (isMissed) {
		return told('unclear', `${answer} was captured in a call that nobody took (status ${status}).`);
	}
	if (wasNotRead) {
		return told('unclear', `${answer} was captured before the call was last read. ${readFailure}`);
	}
	if (!hasEnded) {
		return told(
			'unclear',
			`${answer} was captured, and the call was not over when the wait ended.`,
		);
	}
	if (asked.changed_to !== undefined) {
		return told(
			'unclear',
			`${answer} was captured, and the question was changed after this call: it asked ${quoted(asked.question)}.`,
		);
	}
	if (isFound) {
		return told(
			'unclear',
			`${answer} was captured in a call that was found in the call list, and nothing shows that this question was asked in it.`,
		);
	}
	if (asked.response_type === 'freeText') return told('answered', `The person said ${answer}.`);
	if (isOneOf(captured, asked.yes)) return told('yes', `The person said yes (${answer}).`);
	if (isOneOf(captured, asked.no)) return told('no', `The person said no (${answer}).`);
	return told('unclear', `${answer} was captured, which counts neither as yes nor as no.`);
}

function told(answer: Answer, explanation: string): Judgement {
	return { answer, explanation };
}

function isOneOf(captured: JsonValue, values: readonly string[]): boolean {
	if (typeof captured === 'object') return false;
	const wanted = comparable(captured);
	return values.some((value) => comparable(value) === wanted);
}

/** How two values are compared: neither capitals nor space around them make a difference. */
export function comparable(value: string | number | boolean): string {
	return String(value).trim().toLowerCase();
}

/**
 * How the answer of a call is told that may have been placed by an earlier try.
 *
 * @param question what the call asked, where that is known
 */
export function askedBy(question: unknown, asked: AskedQuestion): AskedQuestion {
	if (typeof question !== 'string' || question === asked.question) return asked;
	return { ...asked, question, changed_to: asked.question };
}

/** As it comes back from n8n’s database with the sleeping execution. */
function isAsked(value: unknown): value is AskedQuestion {
	if (!isJsonObject(value)) return false;
	const { yes, no, not_reached: notReached, answer_path: path, response_type: type } = value;
	return (
		typeof path === 'string' &&
		(type === 'approval' || type === 'freeText') &&
		[yes, no, notReached].every(
			(list) => Array.isArray(list) && list.every((one) => typeof one === 'string'),
		)
	);
}
