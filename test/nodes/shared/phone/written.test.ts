import fc from 'fast-check';
import { isWritten, readWritten } from '../../../../nodes/shared/phone/written';

const digitsOf = (value: unknown): string => {
	const reading = readWritten(value);
	if (!isWritten(reading)) throw new Error(`${String(value)} ${reading.issue}`);
	return `${reading.plus ? '+' : ''}${reading.digits}`;
};

test.each<[unknown, string]>([
	// Separators of groups.
	['98.76 54 32 10', '9876543210'],
	['98765.43210', '9876543210'],
	['.9876543210', '9876543210'],
	['01.23.05.67.89', '0123056789'],
	['01.23.45.67.00', '0123456700'],
	['9,876,543,210', '9876543210'],
	// Groups and decimals, as a sheet formats a number.
	['9,876,543,210.00', '9876543210'],
	['9.876.543.210,0', '9876543210'],
	['9,87,65,43,210.00', '9876543210'],
	["9'876'543'210.00", '9876543210'],
	['+919,876,543,210.00', '+919876543210'],
	// Digits of other scripts.
	['९८७६५४३२१०', '9876543210'],
	['+९१ ९८७६५-४३२१०', '+919876543210'],
	['৯৮৭৬৫৪৩২১০', '9876543210'],
	['௯௮௭௬௫௪௩௨௧௦', '9876543210'],
	['٩٨٧٦٥٤٣٢١٠', '9876543210'],
	['٩٬٨٧٦٬٥٤٣٬٢١٠٫٠٠', '9876543210'],
	['۹۸۷۶۵۴۳۲۱۰', '9876543210'],
	['＋９１（９８７６５）４３２１０', '+919876543210'],
	['𝟗𝟖𝟕𝟔𝟓𝟒𝟑𝟐𝟏𝟎', '9876543210'],
	['98765४३२१०', '9876543210'],
	['९.८७६५४३२१E+०९', '9876543210'],
	// A hyphen that isn't directly before the number, as in a list.
	['- 98765 43210', '9876543210'],
	['–98765 43210', '9876543210'],
	// Something around the number.
	["'p:+919876543210", '+919876543210'],
	["'987654321.0", '987654321'],
	['="987654321.0"', '987654321'],
	['987654321.0,', '987654321'],
	['\u201c987654321.0\u201d', '987654321'],
	['987654321.0\u200b', '987654321'],
	[`${' '.repeat(200)}tel:+91-98765-43210${' '.repeat(200)}`, '+919876543210'],
	// Decimals of a whole number.
	['87654321.0', '87654321'],
	['98765 43210,00', '9876543210'],
	['9876543210.000', '9876543210'],
	['98765432,10987', '9876543210987'],
	// Complete scientific notation.
	['9,87654321 e9', '9876543210'],
	['+9.19876543211E+11', '+919876543211'],
	// A bracketed zero, which is only removed after a country code with a trunk zero.
	['+44 (0)20 7946 0958', '+442079460958'],
	['+44-( 0 ) 20 7946 0958', '+442079460958'],
	['+39 (0)6 1234 5678', '+390612345678'],
	['+44 (020) 7946 0958', '+4402079460958'],
	['44 (0)20 7946 0958', '4402079460958'],
])('%j is read as %s', (value, digits) => {
	expect(digitsOf(value)).toBe(digits);
});

const NO_NUMBER = /^isn't a phone number$/;
const NOT_WHOLE = /^isn't a whole phone number$/;
const SHORTENED = /^may have lost its last digits/;
const CALCULATED = /^was calculated by the spreadsheet/;
const ERROR_VALUE = /^is what a formula of the spreadsheet shows that has no result$/;
const SEVERAL = /^contains more than one/;
test.each<[unknown, RegExp]>([
	['please call after lunch at 5', NO_NUMBER],
	['call 9.87654321e9', NO_NUMBER],
	['98765 tel:43210', NO_NUMBER],
	['9876543210½', NO_NUMBER],
	['⑨876543210', NO_NUMBER],
	['#N/A', ERROR_VALUE],
	[' #REF! ', ERROR_VALUE],
	['#########', ERROR_VALUE],
	['N/A', NO_NUMBER],
	[-9_876_543_119, CALCULATED],
	['-9876543119', CALCULATED],
	["'-9,876,543,119.00", CALCULATED],
	['\u22129876543119', CALCULATED],
	['-९८७६५४३११९', CALCULATED],
	['(9,876,543,119)', CALCULATED],
	['(9876543119.00)', CALCULATED],
	[-98765.5, NOT_WHOLE],
	['98765+43210', NO_NUMBER],
	['.'.repeat(101), NO_NUMBER],
	[`9876543210 ${'or so '.repeat(20)}`, NO_NUMBER],
	[`(98765)${' '.repeat(100)}43210`, NO_NUMBER],
	['9876543210,9123456789', SEVERAL],
	['9876543210.9123456789', SEVERAL],
	['98765 43210; '.repeat(9), SEVERAL],
	['9876543210.123', NOT_WHOLE],
	['9876543210.123456789', NOT_WHOLE],
	['98765 43210.123', NOT_WHOLE],
	['987654321.5', NOT_WHOLE],
	['020 7946.09', NOT_WHOLE],
	['020 7946.00', NOT_WHOLE],
	['9876543.000', NOT_WHOLE],
	['+91.5', NOT_WHOLE],
	['9,876,543,210.50', NOT_WHOLE],
	['9,876.543,210', NOT_WHOLE],
	['9876,543210.00', NOT_WHOLE],
	['9,876,543.000', NOT_WHOLE],
	['9.876,543,210', NOT_WHOLE],
	[Number.NaN, NOT_WHOLE],
	[0, NOT_WHOLE],
	[1e21, NOT_WHOLE],
	['9.8765435E9', SHORTENED],
	['9.9e+99', SHORTENED],
	['9.87654321012E+09', NOT_WHOLE],
	['9876543210e0', NO_NUMBER],
	[{}, /^is neither text nor a number$/],
	[false, /^is neither text nor a number$/],
	['+1234567890123456', /^has 16 digits, .* at most 15$/],
])('%j is rejected', (value, words) => {
	const reading = readWritten(value);
	expect(isWritten(reading) ? reading : reading.issue).toEqual(expect.stringMatching(words));
});

test('ignores formatting around a number', () => {
	const around = fc
		.array(fc.constantFrom(..." \t\u00a0\u200b\u200e\u202c\ufeff-\u2212(),.\u201c\u201d'`"), {
			maxLength: 3,
		})
		.map((parts) => parts.join(''));
	// Directly before the first digit, a minus makes the number negative.
	const notNegative = around.filter((text) => !/[-\u2212]$/.test(text));
	const digits = fc.stringMatching(/^[1-9]\d{7,11}$/);
	const end = fc.constantFrom('.0', ',0', '.00', '.5', 'E+1', '');
	const number = fc.oneof(
		fc.tuple(digits, end).map((parts) => parts.join('')),
		digits.map((text) => `${text.charAt(0)}.${text.slice(1)}`),
	);
	fc.assert(
		fc.property(number, notNegative, around, (text, before, after) => {
			// Brackets around a number with decimals make it negative, too.
			fc.pre(!(before.includes('(') && after.includes(')')));
			expect(readWritten(before + text + after)).toEqual(readWritten(text));
		}),
		{ numRuns: 1_000 },
	);
});
