import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { parseDndPhone } from '../../../../nodes/shared/dnd/phoneMatch';

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
	['098765 43210', '9876543210'],
	['+44 (0) 20 7946 0958', '+442079460958'],
	['0044 20 7946 0958', '00442079460958'],
	['0091 11 2345 6789', '+911123456789'],
	['1909', '1909'],
	['+९१ ९८७६५ ४३२१०', '+919876543210'],
	['٠٠٤٤ ٢٠ ٧٩٤٦ ٠٩٥٨', '00442079460958'],
	['9,876,543,210.00', '9876543210'],
	["'+91 98765 43210", '+919876543210'],
	[' +91 98123-45678 ', '+919812345678'],
	['(202) 555-0143', '2025550143'],
	['\u200B98123\u00A045678', '9812345678'],
])('sends %p as %s', (value, phone) => {
	expect(parseDndPhone(value)).toBe(phone);
});

const DIGITS = 'Enter its digits, with + and country code if your service expects them.';
const DRAG = "To use the numbers of a column, drag the column to 'Phone'.";
const WHOLE = 'Enter the phone number, with its country code.';

test.each<[unknown, RegExp, string?]>([
	['+9198765432100', /^'Phone' "\+9198765432100" has 11 digits after \+91 instead of 10/],
	[
		'+91 98765',
		/has 5 digits after \+91/,
		'Enter the ten digits of the number, with or without +91.',
	],
	['9.88E+09', /may have lost its last digits/],
	['98765.00000', /isn't a whole phone number/, 'Write the number without a dot or comma.'],
	[-9876543119, /^'Phone' "-9876543119" may have been calculated by the spreadsheet/],
	[
		'#N/A',
		/is what a spreadsheet shows if a formula fails/,
		'Correct the formula of the cell, or enter the number.',
	],
	['12', /isn't a phone number/, DIGITS],
	['n/a', /isn't a phone number/],
	['call me', /isn't a phone number/, `${DIGITS} ${DRAG}`],
	['98x', /isn't a phone number/],
	['+91+98', /isn't a phone number/],
	[{}, /neither text nor a number/],
	[['9812345678'], /neither text nor a number/],
	['  ', /^'Phone' is empty/],
	[undefined, /^'Phone' is empty/],
	[true, /neither text nor a number/],
	['', /^'Phone' is empty/, WHOLE],
	[null, /^'Phone' is empty/],
])('rejects %p, and says what to enter', async (...[value, words, resolution]) => {
	const parsing = Promise.resolve().then(() => parseDndPhone(value));
	await expect(parsing).rejects.toBeInstanceOf(InvalidInput);
	await expect(parsing).rejects.toMatchObject({
		message: expect.stringMatching(words),
		resolution: resolution ?? expect.any(String),
	});
});
