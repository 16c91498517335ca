import { plainText } from '../../../nodes/shared/values';

test.each<[unknown, string]>([
	['text ', 'text '],
	[7, '7'],
	[true, ''],
	[null, ''],
	[['a'], ''],
])('%j as text is %j', (value, text) => {
	expect(plainText(value)).toBe(text);
});
