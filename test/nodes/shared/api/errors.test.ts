import { explained, OutcomeUnknown } from '../../../../nodes/shared/api/errors';

const LOOK = { onScreen: 'Look there.', forModel: 'Ask.' };

test.each<[string, ConstructorParameters<typeof OutcomeUnknown>[2]]>([
	['without a response', { originalMessage: 'ECONNRESET' }],
	['without an original message', undefined],
	['with a response', { originalMessage: 'boom', status: 500 }],
	['of a proxy', { originalMessage: '<html>', status: 502, origin: 'response' }],
])('an unknown outcome %s is the same after it was stored', (_name, facts) => {
	const error = new OutcomeUnknown('It broke', LOOK, facts);
	const stored: ReturnType<typeof error.toStored> = JSON.parse(JSON.stringify(error.toStored()));
	expect(error.toStored()).toStrictEqual(stored);
	const { message, description, resolutionForModel, originalMessage, status, origin } = error;
	expect(OutcomeUnknown.fromStored(stored)).toMatchObject({
		...{ message, description, resolutionForModel, originalMessage, status, origin },
		outcome: 'unknown',
	});
});

test('only the start of a long response is shown and stored', () => {
	const error = new OutcomeUnknown('It broke', LOOK, { originalMessage: 'x'.repeat(2_001) });
	expect(error.originalMessage).toBe(`${'x'.repeat(2_000)}…`);
	expect(error.toStored().originalMessage).toBe(error.originalMessage);
});

test('a bug of this package is thrown as it is', () => {
	const bug = new TypeError('x is undefined');
	expect(() => explained(bug)).toThrow(bug);
});
