import fc from 'fast-check';
import { isBlank, lastDigits, readWritten } from '../../../../nodes/core/phone/written';

const PLUS = '+919876543210';
const TEN = '9876543210';

test.each<[string, unknown[]]>([
	// Separators of groups, and decimals, as a sheet formats a number.
	[TEN, ['98.76 54 32 10', '98765.43210', '.9876543210', '9,876,543,210', '9,876,543,210.00']],
	[TEN, ['9.876.543.210,0', '9,87,65,43,210.00', "9'876'543'210.00", '98765 43210,00', 9876543210]],
	['0123450700', ['01.23.45.07.00']],
	// Numbers that a spreadsheet shows in scientific notation, with all digits.
	[TEN, ['9.87654321E+09', '9,87654321 e9', '९.८७६५४३२१E+०९']],
	['87654321', ['87654321.0', '="87654321.0"', '87654321.0,', '\u201c87654321.0\u201d']],
	[PLUS, ['+919,876,543,210.00', "'p:+919876543210", ' tel:+91-98765-43210 ', '+91 (98765) 43210']],
	// Digits of other scripts. All of them: test/nodes/core/values/text.test.ts.
	[PLUS, ['+९१ ९८७६५-४३२१०', '+𝟗𝟏𝟗𝟖𝟕𝟔𝟓𝟒𝟑𝟐𝟏𝟎']],
	[TEN, ['٩٬٨٧٦٬٥٤٣٬٢١٠٫٠٠', '98765४३२१०']],
	// A hyphen that isn't directly before the number, as in a list.
	[TEN, ['- 98765 43210', '–98765 43210']],
	// A bracketed zero is only dialed at home, except in Italy.
	['+442079460958', ['+44 (0)20 7946 0958', '+44-( 0 ) 20 7946 0958']],
	['+390612345678', ['+39 (0)6 1234 5678']],
	['4402079460958', ['44 (0)20 7946 0958']],
	[TEN, [...'\0\ufe0d\u115f\u1160\u3164\uffa0\u2800\u180e'].map((one) => `${one}98765${one}43210`)],
])('reads %s from %j', (dialed, values) => {
	const plus = dialed.startsWith('+');
	const reading = { digits: plus ? dialed.slice(1) : dialed, plus };
	for (const value of values) expect([value, readWritten(value)]).toEqual([value, reading]);
});

test.each<[string, unknown[]]>([
	[
		"isn't a phone number",
		[
			...['call at 5', '98765 tel:43210', '98765/43210', '030 1234/1235', '98765+43210', 'N/A'],
			...['9876543210½', '⑨876543210', '9876543210 ext. 5', '98765 x5', '#REF!', '####', ''],
		],
	],
	["isn't a whole phone number", ['987654321.5', '020 7946.09', '020 7946.00', '9876543.000']],
	["isn't a whole phone number", ['+91.5', '9,876,543,210.50', '9,876,543.000', 0.5, 0, NaN, 1e21]],
	[
		'may have lost its last digits in a spreadsheet',
		['9.8765435E9', '9,876543 e9', 919877000000, '0447911000000'],
	],
	[
		'may have been calculated by the spreadsheet, which subtracts what follows a hyphen',
		[-9876543119, -98765.5, '-9876543119', "'-9,876,543,119.00", '\u2800-9876543119', '-९८७६५'],
	],
	['is neither text nor a number', [{}, false, null, ['9876543210']]],
	['has 20 digits, but a phone number has at most 15', ['9876543210,9123456789']],
	['has 20 digits, but a phone number has at most 15', ['98765 43210 / 91234 56789']],
	['has 16 digits, but a phone number has at most 15', ['+1234567890123456', '98765432,10987654']],
])('a number that %s', (issue, values) => {
	for (const value of values)
		expect([value, readWritten(value)]).toEqual([value, expect.objectContaining({ issue })]);
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

test('only formatting is blank', () => {
	expect(['', ' \u00a0\u200b', '-', null, undefined].every(isBlank)).toBe(true);
	expect(['0', 'x', 0].some(isBlank)).toBe(false);
});

test.each([
	['+91 98765 43210', TEN],
	['0044 20 7946 0958', '2079460958'],
	['030 1234', '301234'],
	['861234567', '61234567'],
])('%s is compared by its last digits, %s', (number, digits) => {
	expect(lastDigits(number)).toBe(digits);
});
