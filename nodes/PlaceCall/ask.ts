/** *Ask and Wait*: a question, and what counts as its answer. */
import intersectionBy from 'lodash/intersectionBy';
import type { INodeProperties } from 'n8n-workflow';
import { hasValue, statusKey, type CallState } from '../core/calls/callEnd';

import type { DataExtractionItem } from '../core/service/contractTypes';
import { InvalidInput } from '../core/service/errors';
import { type JsonObject, type JsonValue, valueAt } from '../core/values/json';
import { hasNoValue } from '../core/values/sheetCells';
import { comparable } from '../core/values/text';
import { parseList, plainText, quoted } from '../core/values/values';
import type { Fields } from '../host/forms/fields';
import { requireSayable } from './fields/conversation';

/** The question of an item, and the settings to evaluate its answer. */
export type AskedQuestion = { question: string; yes: string[]; no: string[] };

/** A checked question, and the data point to send. */
export type Question = { point: DataExtractionItem; asked: AskedQuestion };

/** The key of the answer. Unlikely to be a data point of the agent, because the value must be the answer to this question. */
const ANSWER_KEY = 'answer_to_question';

/** Statuses of calls that nobody answered. */
const NOT_REACHED = ['not_picked', 'failed'].map(statusKey);

export const questionFields: INodeProperties[] = [
	{
		displayName: 'Question',
		name: 'question',
		type: 'string',
		typeOptions: { rows: 3 },
		default: '',
		required: true,
		placeholder: 'e.g. Ask whether we may ship order A-1042 without the spare parts',
		description: 'What the agent should ask the person, as a data point to extract in the call',
	},
	{
		displayName: 'Counts as Yes',
		name: 'yesValues',
		type: 'string',
		default: 'yes, true',
		required: true,
		placeholder: 'e.g. yes, true',
		description:
			"The captured values that mean yes, separated by commas. Nothing else counts as yes. Upper and lower case don't matter.",
	},
	{
		displayName: 'Counts as No',
		name: 'noValues',
		type: 'string',
		default: 'no, false',
		required: true,
		placeholder: 'e.g. no, false',
		description:
			'The captured values that mean no, separated by commas. A value in neither list is returned as unclear.',
	},
];

/**
 * Reads the question. It's sent as a data point, because that is the documented way to let an agent ask something.
 *
 * @throws InvalidInput naming the field to correct
 */
export function readQuestion(form: Fields): Question {
	const question = form.text('question');
	requireSayable('Question', form.expression('question'), question);
	if (question === '' || hasNoValue(question)) {
		throw new InvalidInput(
			"'Question' is empty, so no call was placed",
			'Enter what the agent should ask.',
		);
	}
	const yes = parseList(form.textOrList('yesValues'));
	const no = parseList(form.textOrList('noValues'));
	const both = intersectionBy(yes, no, comparable);
	if (yes.length === 0 || no.length === 0 || both.length > 0) {
		const got = `(got ${quoted(yes.join(', '))} and ${quoted(no.join(', '))})`;
		throw new InvalidInput(
			`'Counts as Yes' and 'Counts as No' must have different values ${got}, so no call was placed`,
			'Enter the values that the agent captures, such as "yes, true" and "no, false".',
		);
	}
	const point = {
		...{ key: ANSWER_KEY, description: question, required: true },
		output_format: `${yes[0]} or ${no[0]}`,
	};
	return { point, asked: { question, yes, no } };
}

/** `unclear`: nothing else is certain. */
type Evaluation = [answer: 'yes' | 'no' | 'not_reached' | 'unclear', explanation: string];

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
	state: CallState = { record: {}, hasEnded: false },
): JsonObject {
	const captured = valueAt(state.record, `data_captured.${ANSWER_KEY}`) ?? null;
	const [answer, explanation] =
		call.placed === false ? notPlaced(call) : evaluateAnswer(state, captured, call.asked, question);
	// First, because a table cuts off the last columns.
	const answered = { answer, explanation, captured_answer: captured };
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
	if (NOT_REACHED.includes(statusKey(plainText(record.status)))) {
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
	const said = comparable(captured);
	return values.some((value) => comparable(value) === said);
}
