import fc from 'fast-check';
import { isWritten, readWritten } from '../../../../nodes/shared/phone/written';

const digitsOf = (value: unknown): string => {
	const reading = readWritten(value);
	if (!isWritten(reading)) throw new Error(`${String(value)} ${reading.issue}`);
	return `${reading.plus ? '+' : ''}${reading.digits}`;
};

describe('removes formatting and keeps every digit', () => {
	test.each<[string, unknown, string]>([
		['digits', '9876543210', '9876543210'],
		['an exact number', 9876543210, '9876543210'],
		['a plus', '+44 20 7946 0958', '+442079460958'],
		['a dot after the first group', '98.76 54 32 10', '9876543210'],
		['a dot before the last group', '020 7946.09', '020794609'],
		['a comma and a dot between groups', '98765,4.0321', '9876540321'],
		['a dot and a comma between groups', '98765.4,0321', '9876540321'],
		['a dot in front', '.9876543210', '9876543210'],
		['pairs between dots, one of which begins with a zero', '01.23.05.67.89', '0123056789'],
		['pairs between dots, the last one zeros', '01.23.45.67.00', '0123456700'],
		['an apostrophe before a lead export', "'p:+919876543210", '+919876543210'],
		['an apostrophe before nine digits and a decimal', "'987654321.0", '987654321'],
		['a formula around nine digits and a decimal', '="987654321.0"', '987654321'],
		['a comma after nine digits and a decimal', '987654321.0,', '987654321'],
		['curly quotes around nine digits and a decimal', '\u201c987654321.0\u201d', '987654321'],
		['an invisible mark after nine digits and a decimal', '987654321.0\u200b', '987654321'],
	])('%s', (_what, value, digits) => {
		expect(digitsOf(value)).toBe(digits);
	});
});

describe('a whole number in groups of thousands', () => {
	test.each([
		['987,000', '987000'],
		['9,876,543,210.00', '9876543210'],
		['98,76,543,210.00', '9876543210'],
		['987,65,43,210.00', '9876543210'],
		['9.876.543.210,00', '9876543210'],
		['98.765.432.100,0', '98765432100'],
		['987.654.321,0', '987654321'],
	])('%s', (text, digits) => {
		expect(digitsOf(text)).toBe(digits);
	});
});

describe('complete scientific notation', () => {
	test.each([
		['9.87654321E+09', '9876543210'],
		['9,87654321e9', '9876543210'],
		['+9.1987654321E+11', '+919876543210'],
		['987654321e1', '9876543210'],
		['9876543210e0', '9876543210'],
		['9.876543210000E+09', '9876543210'],
	])('%s', (text, digits) => {
		expect(digitsOf(text)).toBe(digits);
	});
});

describe('removes a bracketed zero only after a country code with a trunk zero', () => {
	test.each([
		['+44 (0)20 7946 0958', '+442079460958'],
		['+44(0)20 7946 0958', '+442079460958'],
		['+44 ( 0 ) 20 7946 0958', '+442079460958'],
		['0044 (0)20 7946 0958', '00442079460958'],
		['00 44 (0)20 7946 0958', '00442079460958'],
		['+971-(0)50-123 4567', '+971501234567'],
		['+44 (20) 7946 0958', '+442079460958'],
		['+44 (020) 7946 0958', '+4402079460958'],
		['44 (0)20 7946 0958', '4402079460958'],
		['+4 (0)20 7946 0958', '+402079460958'],
		['+44 00 (0)20 7946', '+44000207946'],
		['+44 20 (0) 7946 0958', '+4420079460958'],
		['+39 (0)6 1234 5678', '+390612345678'],
		['(0)20 7946 0958', '02079460958'],
	])('%s', (text, digits) => {
		expect(digitsOf(text)).toBe(digits);
	});
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

describe('rejects values that may not be a single number', () => {
	test.each<[string, unknown, RegExp]>([
		['a sentence', 'please call after lunch at 5', /^isn't a phone number$/],
		['words before scientific notation', 'call 9.87654321e9', /^isn't a phone number$/],
		['words after scientific notation', '9.87654321e9 home', /^isn't a phone number$/],
		['a telephone link behind digits', '98765 tel:43210', /^isn't a phone number$/],
		['three decimals', '9876543210.123', /^has decimals/],
		['scientific notation without its exponent', '9.876543210', /^has decimals/],
		['the same with a comma', '9,876543210', /^has decimals/],
		['the same with a country code', '+9.19876543210', /^has decimals/],
		['a superscript', '987654321²', /^isn't a phone number$/],
		['a subscript', '987654321₀', /^isn't a phone number$/],
		['a digit in a circle', '98765 4321①', /^isn't a phone number$/],
		['a fraction', '9876543210½', /^isn't a phone number$/],
		['a formula result', '#N/A', /^isn't a phone number$/],
		['a plus inside', '98765+43210', /^isn't a phone number$/],
		['two numbers with a comma', '9876543210,9123456789', /^contains more than one/],
		['decimals left over from scientific notation', '9.87654321012E+09', /^isn't a whole/],
		['eight digits of ten, as single precision leaves them', '9.8765435E9', /^was rounded/],
		['not a number', Number.NaN, /^isn't a whole/],
		['a number beyond exact whole numbers', 1e21, /^isn't a whole/],
		['a fraction after nine digits', '987654321.5', /^has decimals/],
		['nine digits in groups and a decimal', '987 654 321.0', /^is ambiguous/],
		['a Roman numeral', '987654321Ⅴ', /^isn't a phone number$/],
		['a digit with a full stop in one character', '987654321⒈', /^isn't a phone number$/],
		['three decimals after formatting', '98765 43210.123', /^has decimals/],
		['two numbers with a dot between', '9876543210.9123456789', /^contains more than one/],
		['a fraction behind a plus', '+91.5', /^has decimals/],
		['thousands and zeros', '020 7946.00', /^is ambiguous/],
		['nine digits in Swiss groups and a decimal', "987'654'321.0", /^is ambiguous/],
		["groups that aren't thousands, and zeros", '98765,43210.00', /^is ambiguous/],
		['no thousands in front', '9187,654,321.00', /^is ambiguous/],
		['no thousands in front of dots', '9187.654.321,00', /^is ambiguous/],
		['a point, and a zero after several', '1.2.0', /^is ambiguous/],
		['zeros after points of both kinds', '1,234.5,000', /^is ambiguous/],
		['groups by dots, a comma, and zeros after a dot', '9.876.543,21.00', /^is ambiguous/],
		['more characters than any way of writing takes', '.'.repeat(101), /^isn't a phone number$/],
		['words around a number', `9876543210 ${'or so '.repeat(20)}`, /^isn't a phone number$/],
		['a list of numbers', '98765 43210; '.repeat(9), /^contains more than one/],
		['an object', {}, /^contains an object instead of a number or text$/],
		['a switch', false, /^contains a boolean instead/],
		['a list', [], /^contains a list instead/],
		['16 digits after a plus', '+1234567890123456', /^has 16 digits, .* at most 15$/],
	])('%s', (_what, value, words) => {
		const reading = readWritten(value);
		expect(isWritten(reading) ? reading : reading.issue).toEqual(expect.stringMatching(words));
	});

	test('ignores white space around a number', () => {
		const spaces = ' '.repeat(200);
		expect(readWritten(`${spaces}tel:+91-98765-43210${spaces}`)).toEqual({
			digits: '919876543210',
			plus: true,
		});
	});

	test('gives advice if another format helps', () => {
		expect(readWritten('9876543210 / 9123456789')).toHaveProperty(
			'resolution.onScreen',
			'Keep only one number.',
		);
		expect(readWritten('98765.00000')).toHaveProperty(
			'resolution.onScreen',
			'Write the number without a dot or comma.',
		);
		expect(readWritten('9.88E+09')).toHaveProperty(
			'resolution.onScreen',
			'Format the phone column as text in the spreadsheet and enter the full numbers again.',
		);
	});
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
