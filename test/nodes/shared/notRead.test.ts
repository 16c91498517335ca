import { InvalidInput } from '../../../nodes/shared/api/errors';
import { whyNotRead } from '../../../nodes/shared/notRead';

test.each<[unknown, string]>([
	[new InvalidInput('Call ID is empty', 'Enter it.'), 'Call ID is empty. Enter it.'],
	[new TypeError('a defect'), 'a defect'],
	['a text', 'a text'],
])('why it was not read: %p', (error, words) => {
	expect(whyNotRead(error)).toBe(words);
});
