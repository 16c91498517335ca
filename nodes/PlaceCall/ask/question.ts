import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/resolution';
import type { DataExtractionItem } from '../../shared/api/endpoints';
import { formatOf, givenAs } from '../../shared/modelFormats';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import type { Scalar } from '../../shared/n8n/forms/fieldValue';
import { isUnset, quoted, parseList } from '../../shared/values';
import { comparable, type AskedQuestion } from './answer';

/** A checked question: the data point to send, and the settings to evaluate the answer. */
export type Question = { point: DataExtractionItem; asked: AskedQuestion };

/** Unlikely to be a data point of the agent, because the value must be the answer to this question. */
const ANSWER_FIELD = 'answer_to_question';
const NOT_REACHED = 'not_picked, failed';

/** As human review, n8n fills in the first field and fixes the second one, by their names. */
export const questionFields: INodeProperties[] = [
	{
		displayName: 'Question',
		name: 'message',
		type: 'string',
		typeOptions: { rows: 3 },
		default: '',
		required: true,
		placeholder: 'e.g. Ask whether we may ship order A-1042 without the spare parts',
		description: 'What the agent should ask the person, as a data point to extract in the call',
	},
	{
		displayName: 'Response Type',
		name: 'responseType',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Any Answer',
				value: 'freeText',
				description: 'Any captured value is the answer',
			},
			{
				name: 'Yes or No',
				value: 'approval',
				description: 'Only the values that you list count as yes or no',
			},
		],
		default: 'approval',
		description: 'What kind of answer is expected',
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
		displayOptions: { show: { responseType: ['approval'] } },
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
		displayOptions: { show: { responseType: ['approval'] } },
	},
];

export const answerOptions: INodeProperties[] = [
	{
		displayName: 'Answer Format',
		name: 'answerFormat',
		type: 'string',
		default: '',
		placeholder: 'e.g. yes or no',
		description:
			'The format in which the agent should capture the answer, in your own words. By default, the first values that count as yes and no.',
	},
	{
		displayName: 'Answer Field',
		name: 'answerField',
		type: 'string',
		default: ANSWER_FIELD,
		description: 'The key of the data point, and of the captured value that is the answer',
	},
	{
		displayName: 'Answer Field in Call Record',
		name: 'answerFieldInRecord',
		type: 'string',
		default: '',
		placeholder: 'e.g. data_captured.order.approved',
		description:
			"The path of the answer in the service's call record, if it isn't 'Answer Field' in data_captured. Use dots for nested fields. Get Call shows the record with 'Output' set to 'Raw'.",
	},
	{
		displayName: 'Not Reached Statuses',
		name: 'notReachedStatuses',
		type: 'string',
		default: NOT_REACHED,
		description:
			'Statuses of calls that nobody answered, separated by commas. Known statuses are not_picked and failed. Add any others that your account uses.',
	},
];

/**
 * Reads the question. It's sent as a data point, because that is the documented way to let an agent ask something.
 *
 * @throws InvalidInput naming the field to correct
 */
export function readQuestion(form: Fields): Question {
	const options = form.collection('options');
	const question = form.text('message', MAY_BE_BLANK);
	if (question === '') {
		throw new InvalidInput(
			"'Question' is empty, so no call was placed",
			givenAs('Question', 'Enter what the agent should ask.'),
		);
	}
	const key = options.text('answerField') || ANSWER_FIELD;
	if (form.rows('dataExtraction').some((row) => row.text('key') === key)) {
		throw new InvalidInput(
			`A data point of 'Data Extraction' has the same key as the answer (${quoted(key)}), so no call was placed`,
			onScreenOnly("Change the 'Key' of the data point, or change 'Answer Field'."),
		);
	}
	const written = options.textAsWritten('answerFormat');
	const isApproval = form.choice('responseType', 'approval') === 'approval';
	const answers = isApproval ? readApproval(form) : FREE_TEXT;
	const [yes = '', no = ''] = [answers.yes[0], answers.no[0]];
	const format = isUnset(written) && isApproval ? `${yes} or ${no}` : written;
	return {
		point: {
			key,
			description: question,
			required: true,
			...(!isUnset(format) && { output_format: format }),
		},
		asked: {
			question,
			...answers,
			answer_field_in_record:
				options.text('answerFieldInRecord') || `data_captured.${key.replaceAll('.', '\\.')}`,
			not_reached: parseList(
				options.has('notReachedStatuses') ? options.textOrList('notReachedStatuses') : NOT_REACHED,
			),
		},
	};
}

type Answers = Pick<AskedQuestion, 'response_type' | 'yes' | 'no'>;

const FREE_TEXT: Answers = { response_type: 'freeText', yes: [], no: [] };

/** The values that count as yes and no. */
function readApproval(form: Fields): Answers {
	const yes = valuesOf(form.scalars('yesValues', MAY_BE_BLANK));
	const no = valuesOf(form.scalars('noValues', MAY_BE_BLANK));
	const forModel = `${formatOf('Counts as Yes')} ${formatOf('Counts as No')}`;
	if (yes.length === 0 || no.length === 0) {
		throw new InvalidInput("'Counts as Yes' or 'Counts as No' is empty, so no call was placed", {
			onScreen: 'Enter the values that your agent captures, such as yes and no.',
			forModel,
		});
	}
	const noValues = new Set(no.map(comparable));
	const both = yes.find((value) => noValues.has(comparable(value)));
	if (both !== undefined) {
		throw new InvalidInput(
			`'Counts as Yes' and 'Counts as No' both have ${quoted(both)}, so no call was placed`,
			{ onScreen: 'Remove it from one of them.', forModel },
		);
	}
	return { response_type: 'approval', yes, no };
}

/** Values separated by commas or line breaks, or a single value or a list from an expression. */
function valuesOf(value: Scalar | Scalar[]): string[] {
	const parts = Array.isArray(value) ? value : parseList(String(value));
	return parts.map((part) => String(part).trim()).filter((part) => part !== '');
}
