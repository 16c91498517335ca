import { OutcomeUnknown } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';

test.each<[string, OutcomeUnknown]>([
	['without a response', new OutcomeUnknown('It broke', forEveryone('Look there.'), 'ECONNRESET')],
	['without an original message', new OutcomeUnknown('It broke', forEveryone('Look there.'))],
	['with a response', new OutcomeUnknown('It stumbled', forEveryone('Look there.'), 'boom', 500)],
	['for the screen', new OutcomeUnknown('It broke', { onScreen: 'Look.', forModel: 'Ask.' })],
	[
		'of a proxy',
		new OutcomeUnknown('It stumbled', forEveryone('Look.'), '<html>', 502, 'response'),
	],
])('an unknown outcome %s is the same after it was stored', (_name, error) => {
	const stored: ReturnType<typeof error.toStored> = JSON.parse(JSON.stringify(error.toStored()));
	expect(error.toStored()).toStrictEqual(stored);
	const { message, description, resolutionForModel, originalMessage, status, origin } = error;
	expect(OutcomeUnknown.fromStored(stored)).toMatchObject({
		...{ message, description, resolutionForModel, originalMessage, status, origin },
		outcome: 'unknown',
	});
});

test('only the start of a long response is stored', () => {
	const error = new OutcomeUnknown('It stumbled', forEveryone('Look there.'), 'x'.repeat(301), 500);
	expect(error.toStored().originalMessage).toBe('x'.repeat(300));
});
