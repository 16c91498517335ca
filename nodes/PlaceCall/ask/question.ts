import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/modelAdvice';
import { parseList } from '../../shared/calls/callEnd';
import type { JsonObject } from '../../shared/json';
import { formOf, givenAs } from '../../shared/modelForms';
import { isUnset, type Problem, quoted } from '../../shared/values';
import type { DataPoint } from '../request/callRequestFields';
import { comparable, type AskedQuestion } from './answer';

/** A question as entered in the form. */
export type QuestionFields = {
	message: unknown;
	responseType: unknown;
	yesValues: unknown;
	noValues: unknown;
	/** Members of the options. */
	options: JsonObject;
	/** Further data points of the same call. */
	points: DataPoint[];
};

/** A checked question: the data point to send, and the settings to evaluate the answer. */
export type Question = { point: DataPoint; asked: AskedQuestion };

/** Unlikely to be a data point of the agent, because the value must be the answer to this question. */
export const ANSWER_FIELD = 'answer_to_question';
export const NOT_REACHED = 'not_picked, failed';

/**
 * Builds the question as a data point, because that is the documented way to let an agent ask something.
 *
 * @throws InvalidInput naming the field to correct
 */
export function buildQuestion({ options, points, ...fields }: QuestionFields): Question {
	const question = textOf(fields.message);
	const key = textOf(options.answerField) || ANSWER_FIELD;
	const isApproval = fields.responseType !== 'freeText';
	const yes = isApproval ? valuesOf(fields.yesValues) : [];
	const no = isApproval ? valuesOf(fields.noValues) : [];
	const noValues = new Set(no.map(comparable));
	const both = yes.find((value) => noValues.has(comparable(value)));
	const [problem] = [
		question === '' && NO_QUESTION,
		isApproval && (yes.length === 0 || no.length === 0) && NO_VALUES,
		both !== undefined && inBothLists(both),
		points.some((point) => textOf(point.key) === key) && duplicateKey(key),
	].filter((found) => found !== false);
	if (problem !== undefined) throw new InvalidInput(problem.message, problem.resolution);
	return {
		point: {
			key,
			description: question,
			required: true,
			...(!isUnset(options.answerFormat) && { outputFormat: options.answerFormat }),
		},
		asked: {
			question,
			response_type: isApproval ? 'approval' : 'freeText',
			yes,
			no,
			answer_field_in_record:
				textOf(options.answerFieldInRecord) || `data_captured.${key.replaceAll('.', '\\.')}`,
			not_reached: parseList(textOf(options.notReachedStatuses ?? NOT_REACHED)),
		},
	};
}

const YES_AND_NO = `${formOf('Counts as Yes')} ${formOf('Counts as No')}`;

const NO_QUESTION: Problem = {
	message: "'Question' is empty, so no call was placed",
	resolution: givenAs('Question', 'Enter what the agent should ask.'),
};

const NO_VALUES: Problem = {
	message: "'Counts as Yes' or 'Counts as No' is empty, so no call was placed",
	resolution: {
		onScreen: 'Enter the values that your agent captures, such as yes and no.',
		forModel: YES_AND_NO,
	},
};

function inBothLists(value: string): Problem {
	return {
		message: `'Counts as Yes' and 'Counts as No' both have ${quoted(value)}, so no call was placed`,
		resolution: {
			onScreen: 'Remove it from one of them.',
			forModel: YES_AND_NO,
		},
	};
}

function duplicateKey(key: string): Problem {
	return {
		message: `A data point of 'Data Extraction' has the same key as the answer (${quoted(key)}), so no call was placed`,
		resolution: onScreenOnly("Change the 'Key' of the data point, or change 'Answer Field'."),
	};
}

/** Values separated by commas or line breaks, or a single value or a list from an expression. */
function valuesOf(value: unknown): string[] {
	const parts: unknown[] = Array.isArray(value) ? value : parseList(textOf(value));
	return parts.map(textOf).filter((part) => part !== '');
}

/** An expression may return a number, true, or false. */
function textOf(value: unknown): string {
	const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
	return isPlain ? String(value).trim() : '';
}
