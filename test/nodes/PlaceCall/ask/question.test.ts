import { readQuestion } from '../../../../nodes/PlaceCall/ask/question';
import { readCallForm } from '../../../../nodes/PlaceCall/fields/readCallForm';
import { CALL, messageOf, questionForm } from '../callForm';

type Values = { [name: string]: unknown };

const QUESTION = {
	message: 'May we ship?',
	yesValues: 'yes, Go ahead',
	noValues: 'no',
};
const questionWith = (values: Values) => readQuestion(questionForm({ ...QUESTION, ...values }));
const messageFor = (values: Values) => messageOf(() => questionWith(values));

test.each<[string, unknown, string[]]>([
	['a list', ['yes', ' ok ', 7, ''], ['yes', 'ok', '7']],
	['true', true, ['true']],
	['a number', 1, ['1']],
	['lines', 'yes\nok', ['yes', 'ok']],
])('an expression may return %s', (_what, yesValues, yes) => {
	expect(questionWith({ yesValues }).asked.yes).toEqual(yes);
});

test.each<[string, Values, string]>([
	['no question', { message: ' ' }, "'Question' is empty"],
	[
		'no values that count as yes',
		{ yesValues: '' },
		'must have different values (got "" and "no")',
	],
	['no values that count as no', { noValues: null }, '(got "yes, Go ahead" and "")'],
	['one value for both', { noValues: 'no, YES ' }, '(got "yes, Go ahead" and "no, YES")'],
])('%s: no call is placed', (_what, over, words) => {
	expect(messageFor(over)).toContain(words);
	expect(messageFor(over)).toContain('no call was placed');
});

test('a question whose expression returns a word instead of a value is not asked', () => {
	const values = { ...QUESTION, message: 'May we ship order #REF!?' };
	const expressions = { message: '=May we ship order {{ $json.order }}?' };
	expect(messageOf(() => readQuestion(questionForm(values, expressions)))).toBe(
		`'Question' has the word "#REF!" instead of a value. The agent would say it. Check the cells that the expression uses.`,
	);
	expect(questionWith(values).asked.question).toBe(values.message);
});

test('no other data point has the key of the answer', () => {
	const points = [{ key: 'answer_to_question', description: 'x' }];
	const form = questionForm({ ...CALL, ...QUESTION, dataExtraction: { points } });
	expect(messageOf(() => readCallForm(form, 'UTC', readQuestion(form).point))).toContain(
		'Several data points have the key "answer_to_question"',
	);
});
