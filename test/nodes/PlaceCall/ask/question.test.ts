import { readQuestion } from '../../../../nodes/PlaceCall/ask/question';
import { readCallForm } from '../../../../nodes/PlaceCall/fields/readCallForm';
import { CALL, messageOf, questionForm } from '../callForm';

type Values = { [name: string]: unknown };

const QUESTION = {
	message: 'May we ship?',
	responseType: 'approval',
	yesValues: 'yes, Go ahead',
	noValues: 'no',
};
const questionWith = (values: Values) => readQuestion(questionForm({ ...QUESTION, ...values }));
const messageFor = (values: Values) => messageOf(() => questionWith(values));

test('the format of the answer can be given in own words', () => {
	const { point } = questionWith({ options: { answerFormat: 'ja or nein' } });
	expect(point).toMatchObject({ key: 'answer_to_question', output_format: 'ja or nein' });
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
	expect(asked).toMatchObject({ yes: [], no: [] });
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
])('%s: no call is placed', (_what, over, words) => {
	expect(messageFor(over)).toContain(words);
	expect(messageFor(over)).toContain('no call was placed');
});

test('no other data point has the key of the answer', () => {
	const points = [{ key: 'answer_to_question', description: 'x' }];
	const form = questionForm({ ...CALL, ...QUESTION, dataExtraction: { points } });
	expect(messageOf(() => readCallForm(form, 'UTC', readQuestion(form).point))).toContain(
		'Several data points have the key "answer_to_question"',
	);
});
