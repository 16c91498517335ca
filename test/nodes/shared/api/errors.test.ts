import {
	asSentence,
	explained,
	InvalidInput,
	OutcomeUnknown,
} from '../../../../nodes/shared/api/errors';
import { forEveryone, onScreenOnly } from '../../../../nodes/shared/api/modelAdvice';

const UNKNOWN: Array<[string, OutcomeUnknown]> = [
	['without an answer', new OutcomeUnknown('It broke', forEveryone('Look there.'), 'ECONNRESET')],
	['with nothing said', new OutcomeUnknown('It broke', forEveryone('Look there.'))],
	['with an answer', new OutcomeUnknown('It stumbled', forEveryone('Look there.'), 'boom', 500)],
	['for the screen', new OutcomeUnknown('It broke', { onScreen: 'Look.', forModel: 'Ask.' })],
	['a proxy’s', new OutcomeUnknown('It stumbled', forEveryone('Look.'), '<html>', 502, 'answer')],
];

test.each(UNKNOWN)('an unknown outcome %s is the same after it was stored', (_what, error) => {
	const stored: ReturnType<typeof error.toStored> = JSON.parse(JSON.stringify(error.toStored()));
	expect(error.toStored()).toStrictEqual(stored);
	const { message, resolution, originalMessage, status, origin, advice, outcome } =
		OutcomeUnknown.fromStored(stored);
	const {
		message: what,
		resolution: next,
		originalMessage: words,
		status: code,
		origin: who,
	} = error;
	expect([message, resolution, originalMessage, status, origin]).toEqual([
		what,
		next,
		words,
		code,
		who,
	]);
	expect([advice, outcome]).toEqual([error.advice, 'unknown']);
	expect(OutcomeUnknown.fromStored(stored).resolutionForModel).toBe(error.resolutionForModel);
});

test('of a long answer its beginning is stored', () => {
	const error = new OutcomeUnknown('It stumbled', forEveryone('Look there.'), 'x'.repeat(301), 500);
	expect(error.toStored().originalMessage).toBe('x'.repeat(300));
});

test('only what was explained can be told; a defect goes on', () => {
	const told = new InvalidInput('Phone is empty', forEveryone('Enter it.'));
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

test('an error says for whom its advice is', () => {
	// @ts-expect-error a text alone doesn't say whether a model can follow it
	const forgotten = () => new InvalidInput('Phone is empty', 'Enter it.');
	expect(forgotten().resolution).toBeUndefined();
	const { resolution, resolutionForModel } = new InvalidInput(
		'Phone is empty',
		onScreenOnly('Turn it on.'),
	);
	expect([resolution, resolutionForModel]).toEqual(['Turn it on.', '']);
});
