import {
	withAnswer,
	withoutAnswer,
	type AskedQuestion,
} from '../../../../nodes/PlaceCall/ask/answer';
import type { CallState } from '../../../../nodes/shared/calls/callEnd';
import type { JsonObject, JsonValue } from '../../../../nodes/shared/json';

const asked: AskedQuestion = {
	question: 'May we ship?',
	yes: ['yes', 'true', 'Go ahead', 'हाँ', '\u00d3k'],
	no: ['no', 'false', 'नहीं'],
};

const ended = (record: JsonObject): CallState => ({ record, hasEnded: true });
const inProgress = (record: JsonObject): CallState => ({ record, hasEnded: false });
const picked = (ok: JsonValue): JsonObject => ({
	status: 'picked',
	data_captured: { answer_to_question: ok },
});

const answerTo = (
	known?: CallState,
	overrides: Partial<AskedQuestion> = {},
	call: JsonObject = {},
) => withAnswer(call, { ...asked, ...overrides }, known);

describe('the answer', () => {
	const neither = 'counts neither as yes nor as no';
	const noAnswer = 'but has no captured answer';
	const missed = (status: string) => `The person wasn't reached (status "${status}").`;

	test.each<[string, CallState, string, string]>([
		['a yes', ended(picked('yes')), 'yes', 'The person said yes ("yes").'],
		['other capitals and space', ended(picked(' GO ahead ')), 'yes', 'The person said yes'],
		['a word with marks', ended(picked('हाँ')), 'yes', 'The person said yes ("हाँ").'],
		['a word without one of its marks', ended(picked('ह')), 'unclear', neither],
		['a decomposed letter', ended(picked('\u200eO\u0301K')), 'yes', 'The person said yes'],
		['true as a value', ended(picked(true)), 'yes', 'The person said yes ("true").'],
		['a no', ended(picked('No')), 'no', 'The person said no ("No").'],
		['false as a value', ended(picked(false)), 'no', 'The person said no ("false").'],
		['another word', ended(picked('yes, but')), 'unclear', neither],
		['a list', ended(picked(['yes'])), 'unclear', neither],
		['an object', ended(picked({ ok: 'yes' })), 'unclear', neither],
		['an empty text', ended(picked(' ')), 'unclear', `(status "picked"), ${noAnswer}`],
		['nothing', ended({ status: 'picked' }), 'unclear', noAnswer],
		['no status', ended({}), 'unclear', `The call is completed (status "null"), ${noAnswer}`],
		['another status', ended({ status: 'busy' }), 'unclear', noAnswer],
		['nobody', ended({ status: 'not_picked' }), 'not_reached', missed('not_picked')],
		['nobody yet', inProgress({ status: 'failed' }), 'not_reached', missed('failed')],
		[
			'a yes of nobody',
			ended({ ...picked('yes'), status: 'not_picked' }),
			'not_reached',
			missed('not_picked'),
		],
		[
			'a yes in a call in progress',
			inProgress(picked('yes')),
			'unclear',
			"The call wasn't completed",
		],
		['an open call', inProgress({ status: 'picked' }), 'unclear', "The call wasn't completed"],
		[
			'a call that could not be read',
			{ record: {}, hasEnded: false, readFailure: 'The token is wrong.' },
			'unclear',
			'The answer is unknown. The token is wrong.',
		],
	])('%s', (_what, known, answer, explanation) => {
		const result = answerTo(known);
		expect(result).toMatchObject({ answer, explanation: expect.stringContaining(explanation) });
		expect(result).toHaveProperty('data.approved', answer === 'yes');
	});

	test('an empty value is no answer', () => {
		const empties: JsonValue[] = [{}, [], [null], { said: '' }, null];
		for (const empty of empties) {
			expect(answerTo(ended(picked(empty)))).toMatchObject({ answer: 'unclear' });
		}
	});

	test.each(['outside_calling_hours', 'call_limit_reached'])(
		'is not_reached if no call was placed: %s',
		(not_placed_reason) => {
			expect(answerTo(undefined, {}, { placed: false, not_placed_reason })).toMatchObject({
				answer: 'not_reached',
				explanation: `No call was placed (${not_placed_reason}).`,
				data: { approved: false },
			});
		},
	);
});

test('a model whose tool was not approved gets the reason, and must not use it', () => {
	const result = (ok: JsonValue) => answerTo(ended(picked(ok)));
	expect(result('no')).toHaveProperty(
		'data.chatInput',
		'The person said no ("no"). This is not an approval. Do not use the tool unless the user asks for it again.',
	);
	expect(result('yes')).toHaveProperty('data.chatInput', 'The person said yes ("yes").');
	expect(withoutAnswer('The agent has no number.')).toEqual({
		answer: 'unclear',
		explanation: 'The agent has no number.',
		captured_answer: null,
		data: {
			approved: false,
			chatInput: expect.stringMatching(/^The agent has no number\. This is not an/),
		},
	});
});

test('a call without a question stays unchanged', () => {
	const call = { call_id: 'a', data_captured: { answer_to_question: 'yes' } };
	for (const not of [
		...[undefined, null, 'asked', {}],
		{ ...asked, yes: 'yes' },
		{ ...asked, no: [1] },
		{ ...asked, yes: undefined },
	]) {
		expect(withAnswer(call, not, ended(picked('yes')))).toBe(call);
	}
});
