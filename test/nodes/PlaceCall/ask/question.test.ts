import { readQuestion } from '../../../../nodes/PlaceCall/ask/question';
import { messageOf, questionForm } from '../callForm';

type Values = { [name: string]: unknown };

const QUESTION = {
	message: 'May we ship?',
	responseType: 'approval',
	yesValues: 'yes, Go ahead',
	noValues: 'no',
};
const questionWith = (values: Values) => readQuestion(questionForm({ ...QUESTION, ...values }));
const messageFor = (values: Values) => messageOf(() => questionWith(values));

test('field names, format, and statuses can be configured', () => {
	const options = {
		answerField: 'a.b',
		answerFormat: 'yes or no',
		notReachedStatuses: 'busy, no_line',
	};
	const { point, asked } = questionWith({ options });
	expect(point).toMatchObject({ key: 'a.b', output_format: 'yes or no' });
	expect(asked).toMatchObject({
		answer_field_in_record: 'data_captured.a\\.b',
		not_reached: ['busy', 'no_line'],
	});
	const answerFieldInRecord = 'post_call_analysis.ok';
	expect(questionWith({ options: { answerFieldInRecord } }).asked.answer_field_in_record).toBe(
		answerFieldInRecord,
	);
	expect(questionWith({ options: { notReachedStatuses: '' } }).asked.not_reached).toEqual([]);
});

test.each<[string, unknown, string[]]>([
	['a list', ['yes', ' ok ', 7, ''], ['yes', 'ok', '7']],
	['true', true, ['true']],
	['a number', 1, ['1']],
	['lines', 'yes\nok', ['yes', 'ok']],
])('an expression may return %s', (_what, yesValues, yes) => {
	expect(questionWith({ yesValues }).asked.yes).toEqual(yes);
});

test('with any answer allowed, nothing counts as yes or no', () => {
	const { asked } = questionWith({ responseType: 'freeText', yesValues: '' });
	expect(asked).toMatchObject({ response_type: 'freeText', yes: [], no: [] });
});

test.each<[string, Values, string]>([
	['no question', { message: ' ' }, "'Question' is empty"],
	['no values that count as yes', { yesValues: '' }, "'Counts as Yes' or 'Counts as No' is empty"],
	['no values that count as no', { noValues: null }, "'Counts as Yes' or 'Counts as No' is empty"],
	[
		'one value for both',
		{ noValues: 'no, YES ' },
		`'Counts as Yes' and 'Counts as No' both have "yes"`,
	],
	[
		'a duplicate key',
		{ dataExtraction: { points: [{ key: 'answer_to_question', description: 'x' }] } },
		'has the same key as the answer ("answer_to_question")',
	],
])('%s: no call is placed', (_what, over, words) => {
	expect(messageFor(over)).toContain(words);
	expect(messageFor(over)).toContain('no call was placed');
});
