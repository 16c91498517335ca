import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/modelAdvice';
import { parseList } from '../../shared/calls/callEnd';
import type { JsonObject } from '../../shared/json';
import { formOf, givenAs } from '../../shared/modelForms';
import { isUnset, type Problem, quoted } from '../../shared/values';
import type { DataPoint } from '../request/callRequestFields';
import { comparable, type AskedQuestion } from './answer';

/** A question as the person filled it in. */
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

/** A question ready to be sent, and what is kept to read its answer. */
export type Question = { point: DataPoint; asked: AskedQuestion };

/** Not a word that an agent's own data points are likely to use: its value must be that of this question. */
export const ANSWER_KEY = 'answer_to_question';
export const NOT_REACHED = 'not_picked, failed';

/**
 * The question as a data point to extract, which is where the document has room for what an agent should ask.
 *
 * @throws InvalidInput naming what must change
 */
export function buildQuestion({ options, points, ...fields }: QuestionFields): Question {
	const question = textOf(fields.message);
	const key = textOf(options.answerKey) || ANSWER_KEY;
	const isApproval = fields.responseType !== 'freeText';
	const yes = isApproval ? valuesOf(fields.yesValues) : [];
	const no = isApproval ? valuesOf(fields.noValues) : [];
	const noValues = new Set(no.map(comparable));
	const both = yes.find((value) => noValues.has(comparable(value)));
	const [problem] = [
		question === '' && NO_QUESTION,
		isApproval && (yes.length === 0 || no.length === 0) && NO_VALUES,
		both !== undefined && bothWays(both),
		points.some((point) => textOf(point.key) === key) && keyTaken(key),
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
			answer_path: textOf(options.answerPath) || `data_captured.${key.replaceAll('.', '\\.')}`,
			not_reached: parseList(textOf(options.notReachedStatuses ?? NOT_REACHED)),
		},
	};
}

const YES_AND_NO = `${formOf('Counts as Yes')} ${formOf('Counts as No')}`;

const NO_QUESTION: Problem = {
	message: 'Question is empty, so nobody was called',
	resolution: givenAs('Question', 'Enter what the agent should ask.'),
};

const NO_VALUES: Problem = {
	message: 'It is not said which answers count as yes and as no, so nobody was called',
	resolution: {
		onScreen:
			'Fill in Counts as Yes and Counts as No with the values that your agent captures, such as yes and no.',
		forModel: YES_AND_NO,
	},
};

function bothWays(value: string): Problem {
	return {
		message: `${quoted(value)} counts as yes and as no, so nobody was called`,
		resolution: {
			onScreen: 'Take it out of Counts as Yes or out of Counts as No.',
			forModel: YES_AND_NO,
		},
	};
}

function keyTaken(key: string): Problem {
	return {
		message: `A data point of Data Extraction has the key of the answer, ${quoted(key)}, so nobody was called`,
		resolution: onScreenOnly('Give it another Key, or set another Answer Key.'),
	};
}

/** Values separated by commas or line breaks, a single one, or a list of them as an expression may give. */
function valuesOf(value: unknown): string[] {
	const parts: unknown[] = Array.isArray(value) ? value : parseList(textOf(value));
	return parts.map(textOf).filter((part) => part !== '');
}

/** An expression may give a number, or true and false. */
function textOf(value: unknown): string {
	const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
	return isPlain ? String(value).trim() : '';
}
