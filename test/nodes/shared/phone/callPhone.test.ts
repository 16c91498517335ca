import { explained } from '../../../../nodes/shared/api/errors';
import { phoneNumber } from '../../../../nodes/shared/phone/callPhone';

/** The number as sent, or the message. */
const read = (value: unknown, country: string) => {
	try {
		return phoneNumber(value, country);
	} catch (error) {
		const { message, resolution } = explained(error);
		return `${message}. ${resolution}`;
	}
};

test.each<[string, string, string]>([
	// A landline, whose first digit is not documented.
	['IN', '011-23456789', '1123456789'],
	['IN', '+91 11 2345 6789', '1123456789'],
	['IN', '1800 123 4567', '18001234567'],
	// The country code is removed.
	['GB', '+44 20 7946 0958', '2079460958'],
	['GB', '+44 (0)20 7946 0958', '2079460958'],
	['GB', '0044 20 7946 0958', '2079460958'],
	['US', '+1 (415) 555-0132', '4155550132'],
	['US', '001 415 555 0132', '4155550132'],
	['DE', '0049 301234', '301234'],
	['CA', '+1 604 555 0132', '6045550132'],
	['US', '+1 868 555 0132', '8685550132'],
	['KZ', '+7 701 555 01 32', '7015550132'],
	['JE', '+44 1534 555 013', '1534555013'],
	['IT', '+39 06 1234 5678', '0612345678'],
	['IT', '+39 (0)6 1234 5678', '0612345678'],
	// Only formatting is removed.
	['GB', '020 7946 0958', '02079460958'],
	['GB', '(0)20 7946 0958', '02079460958'],
	['GB', '+44 020 7946 0958', '02079460958'],
	['GB', '442079460958', '442079460958'],
	['US', '1 415 555 0132', '14155550132'],
	['US', '44 20 7946 0958', '442079460958'],
	['US', '004 555', '004555'],
	['FR', '01.23.45.67.00', '0123456700'],
	['DE', '0049 30', '004930'],
	['AQ', '67212345', '67212345'],
])('%s: %p is sent as %s', (country, value, phone) => {
	expect(read(value, country)).toBe(phone);
});

describe('a number of another country than the chosen one', () => {
	test.each<[string, string, string]>([
		[
			'IN',
			'+44 20 7946 0958',
			`'Phone Number' "+44 20 7946 0958" has another country code, but 'Country' is India (+91). Choose the country of the number in 'Country', or correct the number.`,
		],
		['IN', '0044 20 7946 0958', "but 'Country' is India (+91)"],
		['IN', '+98765 43210', "but 'Country' is India (+91)"],
		['GB', '+91 98765 43210', "but 'Country' is United Kingdom (+44)"],
		['RU', '+1 415 555 0132', "but 'Country' is Russia (+7)"],
		['US', '+999 123', "but 'Country' is United States (+1)"],
		['AQ', '+672 12345', "but 'Country' is Antarctica. Choose"],
	])('%s: %p is rejected and not sent', (country, value, words) => {
		expect(read(value, country)).toContain(words);
	});
});

describe('a value that may not be one number is rejected', () => {
	test.each<[string, unknown, string]>([
		[
			'IN',
			'112',
			'has 3 digits instead of 10. Enter the ten digits of the number, with or without +91.',
		],
		['IN', '98765432101', 'has 11 digits instead of 10'],
		['IN', '987654321.0', 'has 9 digits instead of 10'],
		['IN', '+91', 'has 0 digits after +91 instead of 10'],
		['IN', '+91 98765', 'has 5 digits after +91 instead of 10'],
		['IN', '+9198765432100', 'has 11 digits after +91 instead of 10'],
		[
			'IN',
			919877000000,
			'may have lost its last digits in a spreadsheet. Format the phone column as text in the spreadsheet and enter the full numbers again.',
		],
		['IN', '9876543210 ext 5', "isn't a phone number. Enter the number as digits"],
		['IN', '9876543210 / 9123456789', 'contains more than one phone number. Keep only one number.'],
		['IN', true, `'Phone Number' "true" is neither text nor a number`],
		['IN', 'phone', "To use the numbers of a column, drag the column to 'Phone Number'."],
		[
			'IN',
			'',
			"'Phone Number' is empty. Enter the number to call. If it's an expression, check the name of the column.",
		],
		['IN', '  ', "'Phone Number' is empty"],
		['IN', null, "'Phone Number' is empty"],
		['IN', undefined, "'Phone Number' is empty"],
		['GB', '+44', 'has no digits after +44'],
		['GB', '+44 2079 4609 5812 3456', 'has 18 digits, but a phone number has at most 15'],
	])('%s %p', (country, value, words) => {
		expect(read(value, country)).toContain(words);
	});

	test('and what has no name of a column gets no advice on columns', () => {
		expect(read(true, 'IN')).not.toContain('column');
	});
});
