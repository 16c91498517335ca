import { InvalidInput } from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/modelAdvice';
import { checkSecret } from '../../../../../nodes/shared/n8n/triggers/webhookSecret';

test.each<[given: unknown, wanted: string | undefined, kind: string]>([
	['open-sesame', 'open-sesame', 'passed'],
	[' open-sesame\n', 'open-sesame', 'passed'],
	['open', 'open-sesame', 'wrong'],
	['', 'open-sesame', 'wrong'],
	[undefined, 'open-sesame', 'wrong'],
	[['open-sesame'], 'open-sesame', 'wrong'],
	[7, '7', 'wrong'],
	[undefined, undefined, 'passed'],
	['anything', undefined, 'passed'],
])('%j, where %j is wanted: %s', (given, wanted, kind) => {
	expect(checkSecret(given, () => wanted)).toEqual({ kind });
});

test('nobody has a secret that cannot be read, and it is said why', () => {
	const why = new InvalidInput("'Secret' is empty", forEveryone('Enter a secret.'));
	const read = () => {
		throw why;
	};
	for (const given of ['', undefined, 'open-sesame']) {
		expect(checkSecret(given, read)).toEqual({ kind: 'unusable', why });
	}
});
