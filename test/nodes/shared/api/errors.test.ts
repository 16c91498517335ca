import {
	asSentence,
	explained,
	InvalidInput,
	OutcomeUnknown,
} from '../../../../nodes/shared/api/errors';

const UNKNOWN: Array<[string, OutcomeUnknown]> = [
	['without an answer', new OutcomeUnknown('It broke', 'Look there.', 'ECONNRESET')],
	['with nothing said', new OutcomeUnknown('It broke', 'Look there.')],
	['with an answer', new OutcomeUnknown('It stumbled', 'Look there.', 'boom', 500)],
	['a proxy’s', new OutcomeUnknown('It stumbled', 'Look.', '<html>', 502, 'answer')],
];

test.each(UNKNOWN)('an unknown outcome %s is the same after it was stored', (_what, error) => {
	const stored: ReturnType<typeof error.kept> = JSON.parse(JSON.stringify(error.kept()));
	expect(error.kept()).toStrictEqual(stored);
	const { message, resolution, originalMessage, status, speaker, advice, outcome } =
		OutcomeUnknown.from(stored);
	const {
		message: what,
		resolution: next,
		originalMessage: words,
		status: code,
		speaker: who,
	} = error;
	expect([message, resolution, originalMessage, status, speaker]).toEqual([
		what,
		next,
		words,
		code,
		who,
	]);
	expect([advice, outcome]).toEqual([error.advice, 'unknown']);
});

test('of a long answer its beginning is stored', () => {
	const error = new OutcomeUnknown('It stumbled', 'Look there.', 'x'.repeat(301), 500);
	expect(error.kept().originalMessage).toBe('x'.repeat(300));
});

test('only what was explained can be told; a defect goes on', () => {
	const told = new InvalidInput('Phone is empty', 'Enter it.');
	expect(explained(told)).toBe(told);
	expect(() => explained(new TypeError('x is undefined'))).toThrow(TypeError);
});

test.each([
	['no such call', 'no such call.'],
	['No!', 'No!'],
	['Why?', 'Why?'],
	['Gone.', 'Gone.'],
	['1.5 s', '1.5 s.'],
])('%j is closed so that more can follow', (text, sentence) => {
	expect(asSentence(text)).toBe(sentence);
});
