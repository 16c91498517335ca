import { InvalidInput, OutcomeUnknown } from '../../../nodes/shared/api/errors';
import { onScreenOnly } from '../../../nodes/shared/api/resolution';
import { whyNotRead } from '../../../nodes/shared/notRead';

const ADVICE = { onScreen: 'Enter it.', forModel: 'Give it.' };

test.each<[unknown, string, string]>([
	[new InvalidInput('It is empty', ADVICE), 'It is empty. Enter it.', 'It is empty. Give it.'],
	[
		new OutcomeUnknown('It broke', onScreenOnly('Look.'), {
			originalMessage: 'no',
			status: 503,
		}),
		'It broke. Look. The service said: no.',
		'It broke. The service said: no.',
	],
	[new TypeError('a defect'), 'a defect', 'a defect'],
	['a text', 'a text', 'a text'],
])('why it was not read, for a person and for a model: %p', (error, person, model) => {
	expect(whyNotRead(error, 'onScreen')).toBe(person);
	expect(whyNotRead(error, 'forModel')).toBe(model);
});
