import { callKey, numberKeys } from '../../../../nodes/shared/phone/numberKeys';

test.each([
	['9876543210', undefined],
	['+91 98765-43210', undefined],
	['0091 98765 43210', undefined],
	[9_876_543_210, undefined],
	['098765 43210', 'IN'],
])('%s (%s) is remembered by pushes and by calls', (value, country) => {
	expect(numberKeys(value, country)).toEqual({
		value: { pushed: ['9876543210'], called: ['919876543210'] },
	});
});

test.each([
	['+1 202-555-0123', undefined, '12025550123'],
	['202 555 0123', 'US', '12025550123'],
	// A number without a clear international format is known as it was sent.
	['555 0123', 'US', callKey(null, 'US', '5550123')],
])('%s (%s) is remembered by calls as %s', (value, country, called) => {
	expect(numberKeys(value, country)).toMatchObject({ value: { called: [called] } });
});

test('the number of another country is never that of an Indian person', () => {
	expect(numberKeys('917 555 0100', 'US')).toEqual({
		value: { pushed: [], called: ['19175550100'] },
	});
});

test.each([
	['', undefined, "'Phone' is empty"],
	['2025550123', undefined, `'Phone' "2025550123" has no clear international format`],
	['anonymous', undefined, `'Phone' "anonymous" has no clear international format`],
	['anonymous', 'IN', `'Phone Number' "anonymous"`],
])('"%s" (%s) is not clear', (value, country, message) => {
	expect(numberKeys(value, country)).toMatchObject({
		problem: { message: expect.stringContaining(message) },
	});
});
