import { readCampaignPhone } from '../../../../nodes/shared/phone/campaignPhone';
import { calledNumberKey, numberKey } from '../../../../nodes/shared/phone/numberKey';

test.each([
	['9876543210', undefined],
	['+91 98765-43210', undefined],
	['0091 98765 43210', undefined],
	[9_876_543_210, undefined],
	['098765 43210', 'IN'],
])('%s (%s) has the key of a pushed number', (value, country) => {
	expect(numberKey(value, country)).toEqual({ value: '919876543210' });
	expect(readCampaignPhone(value)).toHaveProperty('key', '919876543210');
});

test.each([
	['+1 202-555-0123', undefined, '12025550123'],
	['202 555 0123', 'US', '12025550123'],
	// A number without a clear international format is known as it was sent.
	['555 0123', 'US', calledNumberKey(null, 'US', '5550123')],
])('%s (%s) is remembered as %s', (value, country, key) => {
	expect(numberKey(value, country)).toEqual({ value: key });
});

test('the number of another country is never that of an Indian person', () => {
	expect(numberKey('917 555 0100', 'US')).toEqual({ value: '19175550100' });
});

test.each([
	['', undefined, "'Phone' is empty"],
	['2025550123', undefined, `'Phone' "2025550123" has no clear international format`],
	['anonymous', undefined, `'Phone' "anonymous" has no clear international format`],
	['anonymous', 'IN', `'Phone Number' "anonymous"`],
])('"%s" (%s) is not clear', (value, country, message) => {
	expect(numberKey(value, country)).toMatchObject({
		problem: { message: expect.stringContaining(message) },
	});
});
