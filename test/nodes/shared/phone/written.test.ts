import fc from 'fast-check';
import { isMasked, isWritten, readWritten } from '../../../../nodes/shared/phone/written';

const digitsOf = (value: unknown): string => {
	const reading = readWritten(value);
	if (!isWritten(reading)) throw new Error(`${String(value)} ${reading.issue}`);
	return `${reading.plus ? '+' : ''}${reading.digits}`;
};

test.each<[unknown, string]>([
	// Separators of groups.
	['98.76 54 32 10', '9876543210'],
	['020 7946.09', '020794609'],
	['98765,4.0321', '9876540321'],
	['98765.4,0321', '9876540321'],
	['.9876543210', '9876543210'],
	['01.23.05.67.89', '0123056789'],
	// Something around the number.
	["'p:+919876543210", '+919876543210'],
	["'987654321.0", '987654321'],
	['="987654321.0"', '987654321'],
	['987654321.0,', '987654321'],
	['\u201c987654321.0\u201d', '987654321'],
	['987654321.0\u200b', '987654321'],
	[`${' '.repeat(200)}tel:+91-98765-43210${' '.repeat(200)}`, '+919876543210'],
	// A whole number in groups of thousands, or in Indian groups.
	['987,000', '987000'],
	['98,76,543,210.00', '9876543210'],
	['987,65,43,210.00', '9876543210'],
	['9.876.543.210,00', '9876543210'],
	['98.765.432.100,0', '98765432100'],
	['987.654.321,0', '987654321'],
	// Complete scientific notation.
	['9,87654321e9', '9876543210'],
	['+9.1987654321E+11', '+919876543210'],
	['987654321e1', '9876543210'],
	['9876543210e0', '9876543210'],
	['9.876543210000E+09', '9876543210'],
	// A bracketed zero, which is only removed after a country code with a trunk zero.
	['(+44) (0)20 7946 0958', '+442079460958'],
	['+44 ( 0 ) 20 7946 0958', '+442079460958'],
	['00 44 (0)20 7946 0958', '00442079460958'],
	['+44 (20) 7946 0958', '+442079460958'],
	['+44 (020) 7946 0958', '+4402079460958'],
	['44 (0)20 7946 0958', '4402079460958'],
	['+4 (0)20 7946 0958', '+402079460958'],
	['+44 00 (0)20 7946', '+44000207946'],
	['+44 20 (0) 7946 0958', '+4420079460958'],
])('%j is read as %s', (value, digits) => {
	expect(digitsOf(value)).toBe(digits);
});

describe('decimal digits of a script', () => {
	const digitsFrom = (zero: number) =>
		[...'9876543210'].map((digit) => String.fromCodePoint(zero + Number(digit))).join('');

	test.each<[string, number]>([
		['Arabic', 0x660],
		['Persian', 0x6f0],
		['Devanagari', 0x966],
		['Tamil', 0xbe6],
		['Meitei', 0xabf0],
		['Ol Chiki', 0x1c50],
		['Chakma', 0x11136],
		['Thai', 0xe50],
		['full-width', 0xff10],
		['the last of the mathematical alphabets', 0x1d7f6],
	])('%s', (_script, zero) => {
		expect(digitsOf(digitsFrom(zero))).toBe('9876543210');
		expect(digitsOf(`＋91 ${digitsFrom(zero)}`)).toBe('+919876543210');
	});

	test('are the only other characters that become digits', () => {
		for (let point = 0x80; point <= 0x10ffff; point++) {
			const character = String.fromCodePoint(point);
			// Surrogates, private use, and unassigned: four in five.
			if (/^[\p{Cs}\p{Co}\p{Cn}]$/u.test(character)) continue;
			const reading = readWritten(`987654321${character}`);
			if (!isWritten(reading) || reading.digits === '987654321') continue;
			expect({ character, isDecimal: /^\p{Nd}$/u.test(character) }).toEqual({
				character,
				isDecimal: true,
			});
			expect(reading.digits).toMatch(/^987654321\d$/);
		}
	});
});

const NO_NUMBER = /^isn't a phone number$/;
const NOT_WHOLE = /^isn't a whole phone number$/;
const DECIMALS = /^has decimals/;
const AMBIGUOUS = /^is ambiguous/;
const SEVERAL = /^contains more than one/;
test.each<[unknown, RegExp]>([
	['please call after lunch at 5', NO_NUMBER],
	['call 9.87654321e9', NO_NUMBER],
	['9.87654321e9 home', NO_NUMBER],
	['98765 tel:43210', NO_NUMBER],
	['987654321²', NO_NUMBER],
	['987654321₀', NO_NUMBER],
	['98765 4321①', NO_NUMBER],
	['9876543210½', NO_NUMBER],
	['987654321Ⅴ', NO_NUMBER],
	['987654321⒈', NO_NUMBER],
	['#N/A', NO_NUMBER],
	['98765+43210', NO_NUMBER],
	['.'.repeat(101), NO_NUMBER],
	[`9876543210 ${'or so '.repeat(20)}`, NO_NUMBER],
	[`(98765)${' '.repeat(100)}43210`, NO_NUMBER],
	['9876543210,9123456789', SEVERAL],
	['9876543210.9123456789', SEVERAL],
	['98765 43210; '.repeat(9), SEVERAL],
	['9876543210.123', DECIMALS],
	['98765 43210.123', DECIMALS],
	['987654321.5', DECIMALS],
	['+91.5', DECIMALS],
	// Scientific notation without its exponent.
	['9.876543210', DECIMALS],
	['9,876543210', DECIMALS],
	['+9.19876543210', DECIMALS],
	['9.87654321012E+09', NOT_WHOLE],
	[Number.NaN, NOT_WHOLE],
	[1e21, NOT_WHOLE],
	// Single precision leaves eight digits of ten.
	['9.8765435E9', /^was rounded/],
	['987 654 321.0', AMBIGUOUS],
	['020 7946.00', AMBIGUOUS],
	["987'654'321.0", AMBIGUOUS],
	['98765,43210.00', AMBIGUOUS],
	['9187,654,321.00', AMBIGUOUS],
	['9187.654.321,00', AMBIGUOUS],
	['1.2.0', AMBIGUOUS],
	['1,234.5,000', AMBIGUOUS],
	['9.876.543,21.00', AMBIGUOUS],
	[{}, /^contains an object instead of a number or text$/],
	[false, /^contains a boolean instead/],
	[[], /^contains a list instead/],
	['+1234567890123456', /^has 16 digits, .* at most 15$/],
])('%j is rejected', (value, words) => {
	const reading = readWritten(value);
	expect(isWritten(reading) ? reading : reading.issue).toEqual(expect.stringMatching(words));
});

test.each([
	['+91XXXXXX3210', true],
	['+91 ***** (3210)', true],
	['98765x3210', false],
	['+91XXXXXX', true],
	['XXXXXXXXXX', false],
	['Annexx 3210', false],
])('whether %s hides digits: %s', (text, isHidden) => {
	expect(isMasked(text)).toBe(isHidden);
});

test('ignores formatting around a number', () => {
	const around = fc
		.array(fc.constantFrom(..." \t\u00a0\u200b\u200e\u202c\ufeff-\u2212(),.\u201c\u201d'`"), {
			maxLength: 3,
		})
		.map((parts) => parts.join(''));
	const digits = fc.stringMatching(/^[1-9]\d{7,11}$/);
	const end = fc.constantFrom('.0', ',0', '.00', '.5', 'E+1', '');
	const number = fc.oneof(
		fc.tuple(digits, end).map((parts) => parts.join('')),
		digits.map((text) => `${text.charAt(0)}.${text.slice(1)}`),
	);
	fc.assert(
		fc.property(number, around, around, (text, before, after) => {
			expect(readWritten(before + text + after)).toEqual(readWritten(text));
		}),
		{ numRuns: 1_000 },
	);
});
