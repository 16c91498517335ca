import {
	asSentence,
	explained,
	InvalidInput,
	OutcomeUnknown,
} from '../../../../nodes/shared/api/errors';
import { forEveryone, onScreenOnly } from '../../../../nodes/shared/api/resolution';

const UNKNOWN: Array<[string, OutcomeUnknown]> = [
	['without a response', new OutcomeUnknown('It broke', forEveryone('Look there.'), 'ECONNRESET')],
	['without an original message', new OutcomeUnknown('It broke', forEveryone('Look there.'))],
	['with a response', new OutcomeUnknown('It stumbled', forEveryone('Look there.'), 'boom', 500)],
	['for the screen', new OutcomeUnknown('It broke', { onScreen: 'Look.', forModel: 'Ask.' })],
	[
		'of a proxy',
		new OutcomeUnknown('It stumbled', forEveryone('Look.'), '<html>', 502, 'response'),
	],
];

const FIELDS = [
	'message',
	'resolution',
	'resolutionForModel',
	'originalMessage',
	'status',
	'origin',
	'description',
] as const;

test.each(UNKNOWN)('an unknown outcome %s is the same after it was stored', (_name, error) => {
	const stored: ReturnType<typeof error.toStored> = JSON.parse(JSON.stringify(error.toStored()));
	expect(error.toStored()).toStrictEqual(stored);
	const restored = OutcomeUnknown.fromStored(stored);
	for (const field of FIELDS) expect(restored[field]).toBe(error[field]);
	expect(restored.outcome).toBe('unknown');
});

test('only the start of a long response is stored', () => {
	const error = new OutcomeUnknown('It stumbled', forEveryone('Look there.'), 'x'.repeat(301), 500);
	expect(error.toStored().originalMessage).toBe('x'.repeat(300));
});

test('an error without an explanation is thrown unchanged', () => {
	const error = new InvalidInput('Phone is empty', forEveryone('Enter it.'));
	expect(explained(error)).toBe(error);
	expect(() => explained(new TypeError('x is undefined'))).toThrow(TypeError);
});

test.each([
	['no such call', 'no such call.'],
	['No!', 'No!'],
	['Why?', 'Why?'],
	['Gone.', 'Gone.'],
	['1.5 s', '1.5 s.'],
])('%j ends with a period as a sentence', (text, sentence) => {
	expect(asSentence(text)).toBe(sentence);
});

test('an error has a resolution for each reader', () => {
	// @ts-expect-error a string doesn't say whether a model can follow it
	const forgotten = () => new InvalidInput('Phone is empty', 'Enter it.');
	expect(forgotten().resolution).toBeUndefined();
	const { resolution, resolutionForModel } = new InvalidInput(
		'Phone is empty',
		onScreenOnly('Turn it on.'),
	);
	expect([resolution, resolutionForModel]).toEqual(['Turn it on.', '']);
});
