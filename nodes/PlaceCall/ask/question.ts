import intersectionBy from 'lodash/intersectionBy';
import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import type { DataExtractionItem } from '../../core/service/contractTypes';
import type { Fields } from '../../host/forms/fields';
import type { Scalar } from '../../host/forms/fieldValue';
import { parseList, quoted } from '../../core/values/values';
import { hasNoValue } from '../../core/values/sheetCells';
import { comparable } from '../../core/values/text';
import { requireSayable } from '../fields/sayable';
import { ANSWER_KEY, type AskedQuestion } from './answer';

/** A checked question: the data point to send, and the settings to evaluate the answer. */
export type Question = { point: DataExtractionItem; asked: AskedQuestion };

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
	const yes = valuesOf(form.scalars('yesValues'));
	const no = valuesOf(form.scalars('noValues'));
	const both = intersectionBy(yes, no, comparable);
	if (yes.length === 0 || no.length === 0 || both.length > 0) {
		const got = `(got ${quoted(yes.join(', '))} and ${quoted(no.join(', '))})`;
		throw new InvalidInput(
			`'Counts as Yes' and 'Counts as No' must have different values ${got}, so no call was placed`,
			'Enter the values that the agent captures, such as "yes, true" and "no, false".',
		);
	}
	return {
		point: {
			key: ANSWER_KEY,
			description: question,
			required: true,
			output_format: `${yes[0]} or ${no[0]}`,
		},
		asked: { question, yes, no },
	};
}

/** Values separated by commas or line breaks, or a single value or a list from an expression. */
function valuesOf(value: Scalar | Scalar[]): string[] {
	const parts = Array.isArray(value) ? value : parseList(String(value));
	return parts.map((part) => String(part).trim()).filter((part) => part !== '');
}
