import { InvalidInput } from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/resolution';
import { checkSecret } from '../../../../../nodes/shared/n8n/triggers/webhookSecret';

test.each<[given: unknown, required: string | undefined, kind: string]>([
	['open-sesame', 'open-sesame', 'passed'],
	[' open-sesame\n', 'open-sesame', 'passed'],
	['open', 'open-sesame', 'wrong'],
	['', 'open-sesame', 'wrong'],
	[undefined, 'open-sesame', 'wrong'],
	[['open-sesame'], 'open-sesame', 'wrong'],
	[7, '7', 'wrong'],
	[undefined, undefined, 'passed'],
	['anything', undefined, 'passed'],
])('%j, if %j is required: %s', (given, required, kind) => {
	expect(checkSecret(given, () => required)).toEqual({ kind });
});

test('no request passes if the secret cannot be read, and the reason is returned', () => {
	const why = new InvalidInput("'Secret' is empty", forEveryone('Enter a secret.'));
	const read = () => {
		throw why;
	};
	for (const given of ['', undefined, 'open-sesame']) {
		expect(checkSecret(given, read)).toEqual({ kind: 'unusable', why });
	}
});
