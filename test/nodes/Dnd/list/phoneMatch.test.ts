import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { parseDndPhone, comparedDigits } from '../../../../nodes/Dnd/list/phoneMatch';

test.each<[unknown, string]>([
	['+919876543210', '+919876543210'],
	[' +91 98765-43210 ', '+919876543210'],
	['+91 (0) 98765 43210', '+919876543210'],
	['+919876543210.0', '+919876543210'],
	['0091 98765 43210', '+919876543210'],
	['9876543210', '9876543210'],
	[9876543210, '9876543210'],
	['9876543210.0', '9876543210'],
	['919876543210', '919876543210'],
	['098765 43210', '09876543210'],
	['+44 (0) 20 7946 0958', '+442079460958'],
	['0044 20 7946 0958', '00442079460958'],
	['0091 11 2345 6789', '00911123456789'],
	['1909', '1909'],
	["'+91 98765 43210", '+919876543210'],
	[' +91 98123-45678 ', '+919812345678'],
	['(202) 555-0143', '2025550143'],
	['\u200B98123\u00A045678', '9812345678'],
])('sends %p as %s', (value, phone) => {
	expect(parseDndPhone(value)).toBe(phone);
});

test.each<[unknown, RegExp]>([
	['+9198765432100', /^'Phone' "\+9198765432100" has 11 digits after \+91 instead of 10/],
	['+91 98765', /has 5 digits after \+91/],
	['9.88E+09', /was rounded by a spreadsheet/],
	['98765.00000', /is ambiguous/],
	['12', /isn't a phone number/],
	['n/a', /isn't a phone number/],
	['call me', /isn't a phone number/],
	['98x', /isn't a phone number/],
	['9.81e9', /was rounded/],
	['+91+98', /isn't a phone number/],
	[{}, /contains an object/],
	[['9812345678'], /contains a list/],
	['  ', /^'Phone' is empty/],
	[undefined, /^'Phone' is empty/],
	[true, /contains a boolean/],
	['', /^'Phone' is empty/],
	[null, /^'Phone' is empty/],
])('rejects %p', (value, words) => {
	expect(() => parseDndPhone(value)).toThrow(InvalidInput);
	expect(() => parseDndPhone(value)).toThrow(words);
});

test('a number has the same key in any format', () => {
	const ways = ['+919876543210', '9876543210', '91 98765 43210', '0091-9876543210', '09876543210'];
	expect(ways.map(comparedDigits)).toEqual(ways.map(() => '9876543210'));
	expect(comparedDigits('+1 (415) 555-0132')).toBe('14155550132');
});

test.each([
	['', 'Enter the phone number, with its country code.'],
	['call me', 'Enter its digits, with + and country code if your service expects them.'],
	['+91 98765', 'Enter its digits, with + and country code if your service expects them.'],
	['12', 'Enter its digits, with + and country code if your service expects them.'],
	['98765.00000', 'Write the number without a dot or comma.'],
])('the error for %p says what to enter', (value, resolution) => {
	const errorOf = () => {
		try {
			return parseDndPhone(value);
		} catch (error) {
			return error;
		}
	};
	expect(errorOf()).toMatchObject({ resolution });
});
