import { phoneNumber } from '../../../../nodes/shared/phone/callPhone';
import { isAccepted, readCampaignPhone } from '../../../../nodes/shared/phone/campaignPhone';
import { phoneKey } from '../../../../nodes/shared/phone/phoneKey';

const reasonOf = (value: unknown): string => {
	const reading = readCampaignPhone(value);
	if (isAccepted(reading)) throw new Error(`${String(value)} was accepted as ${reading.phone}`);
	return reading.reason;
};

describe('a cell is pushed in a documented format, and called and remembered as the same number', () => {
	test.each<[string, unknown, string]>([
		['documented form', '9876543210', '9876543210'],
		['documented form with country code', '+919876543210', '+919876543210'],
		['number', 9876543210, '9876543210'],
		['number with country code', 919876543210, '+919876543210'],
		['number in scientific notation', 9.87654321e9, '9876543210'],
		['scientific text', '9.87654321E+09', '9876543210'],
		['text of a whole float', '9876543210.0', '9876543210'],
		['text of a float with country code', '919876543210.00', '+919876543210'],
		['spaces', ' 98765 43210 ', '9876543210'],
		['dashes', '987-654-3210', '9876543210'],
		['long dash and minus sign', '98765–43210', '9876543210'],
		['parentheses', '(98765) 43210', '9876543210'],
		['dots', '98765.43210', '9876543210'],
		['trunk zero', '09876543210', '9876543210'],
		['decimals after formatting', '98765 43210.0', '9876543210'],
		['decimals after a plus', '+919876543210.0', '+919876543210'],
		['decimals of a program', '9876543210.000000', '9876543210'],
		['91 without plus', '919876543210', '+919876543210'],
		['0091', '0091 98765 43210', '+919876543210'],
		['091', '091-9876543210', '+919876543210'],
		['plus and trunk zero', '+91 (0) 98765 43210', '+919876543210'],
		['plus and trunk zero without brackets', '+91 098765 43210', '+919876543210'],
		['plus, spaces, dashes', '+91-98765 43210', '+919876543210'],
		['apostrophe before a float', "'9876543210.0", '9876543210'],
		['quotes with spaces and separators in them', '" 9,876,543,210 "', '9876543210'],
		['groups and decimals', '9,876,543,210.00', '9876543210'],
		['digits of Devanagari', '९८७६५४३२१०', '9876543210'],
		['Bengali digits with their country code', '+৯১ ৯৮৭৬৫ ৪৩২১০', '+919876543210'],
		['Arabic digits with a zero', '٠٩٨٧٦٥٤٣٢١٠', '9876543210'],
		['ten digits that begin with 91', '9198765432', '9198765432'],
		[
			'+91 with a first digit below 6, which the service decides on',
			'+911123456789',
			'+911123456789',
		],
		['91 with a first digit below 6', '911123456789', '+911123456789'],
		['an even number, written as the document wants it', '9000000000', '9000000000'],
	])('%s', (_name, value, phone) => {
		const subscriber = phone.slice(-10);
		expect(readCampaignPhone(value)).toEqual({ phone, phoneKey: `91${subscriber}` });
		expect(phoneNumber(value, 'IN')).toBe(subscriber);
		expect(phoneKey(value, 'IN')).toBe(`91${subscriber}`);
	});
});

describe('rejects other values with a reason', () => {
	test.each<[string, unknown, RegExp]>([
		['nothing', undefined, /^The phone column of this row is empty/],
		['null', null, /^The phone column of this row is empty/],
		['empty text', '', /^The phone column of this row is empty/],
		['white space', ' \u00a0\u200b', /^The phone column of this row is empty/],
		['a dash as a filler', '-', /^The phone column of this row is empty/],
		[
			'scientific notation that lost digits',
			'9.88E+09',
			/"9\.88E\+09" may have lost its last digits.*as text/,
		],
		['Excel’s six digits', '9.19877E+11', /may have lost/],
		['a rounded number that came back in full', 919877000000, /may have lost/],
		[
			'a decimal of nine digits, which ten digits would make a stranger’s',
			'987654321.0',
			/has 9 digits instead of 10/,
		],
		['a decimal comma after nine digits', '987654321,0', /has 9 digits instead of 10/],
		['a decimal of nine digits behind an apostrophe', "'987654321.0", /has 9 digits/],
		['nine digits after +91 and a decimal', '+91987654321.0', /has 9 digits after \+91/],
		[
			'a number that the sheet calculated',
			-9876543119,
			/^"-9876543119" may have been calculated by the spreadsheet, which subtracts what follows a hyphen\. Format the phone column as text/,
		],
		[
			'the same as text',
			'-9876543119',
			/^"-9876543119" may have been calculated by the spreadsheet/,
		],
		[
			'an error value',
			'#REF!',
			/^"#REF!" is what a spreadsheet shows if a formula fails\. Correct the formula of the cell/,
		],
		['too short', '98765', /"98765" has 5 digits instead of 10/],
		['one digit', '7', /has 1 digit instead of 10/],
		['too long', '98765432101', /has 11 digits instead of 10/],
		['zero', 0, /^"0" isn't a whole phone number/],
		['twelve digits that do not begin with 91', '981234567890', /has 12 digits instead of 10/],
		['eleven digits that begin with 91', '91987654321', /has 11 digits instead of 10/],
		['a zero in the middle after +91', '+91909876543210', /has 12 digits after \+91/],
		['a zero before too many digits', '+91098765432101', /has 12 digits after \+91/],
		['too short after +91', '+91 98765', /has 5 digits after \+91 instead of 10/],
		['too long after +91', '+91987654321012', /has 12 digits after \+91/],
		['a first digit below 6', '1123456789', /starts with 1, .*write \+91 before it/],
		['a landline with its trunk zero', '011-23456789', /starts with 1/],
		['another country', '+1 415 555 0100', /isn't a \+91 number/],
		['another country with 00', '0044 20 7946 0000', /isn't a \+91 number/],
		['a plus in front of a national number', '+9876543210', /isn't a \+91 number/],
		['00 in front of a national number', '009876543210', /isn't a \+91 number/],
		['two numbers', '9876543210 / 9123456789', /more than one phone number/],
		['an extension', '9876543210 ext 12', /isn't a phone number/],
		['a list', ['9876543210'], /neither text nor a number/],
	])('%s', (_name, value, reason) => {
		expect(reasonOf(value)).toMatch(reason);
	});

	test('the reason shows the trimmed cell, up to 40 characters', () => {
		const shown = (cell: string) => /^"(.*?)"/.exec(reasonOf(cell))?.[1];
		expect(shown(' call me ')).toBe('call me');
		expect(shown('x'.repeat(40))).toBe('x'.repeat(40));
		expect(shown('x'.repeat(41))).toBe(`${'x'.repeat(40)}...`);
	});

	test('the reason for other values does not show them', () => {
		expect(reasonOf(['9876543210'])).toBe(
			'The phone number is neither text nor a number. The service accepts 10-digit mobile numbers that start with 6 to 9, and +91 followed by 10 digits.',
		);
		expect(reasonOf(9876543210.5)).toMatch(/^"9876543210.5" isn't a whole phone number/);
	});
});
