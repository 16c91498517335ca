import fc from 'fast-check';
import { getExampleNumber, isSupportedCountry } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import isEqual from 'lodash/isEqual';
import uniqWith from 'lodash/uniqWith';
import { explained } from '../../../../nodes/core/service/errors';
import { parseDndPhone } from '../../../../nodes/core/dnd/listedNumbers';
import { phoneNumber } from '../../../../nodes/core/phone/callPhone';
import { isAccepted, readCampaignPhone } from '../../../../nodes/core/phone/campaignPhone';
import { callingCodeOf, COUNTRIES, hasTrunkZero } from '../../../../nodes/core/phone/countries';
import { loosePhoneKey, phoneKey } from '../../../../nodes/core/phone/phoneKey';
import { isWritten, readWritten } from '../../../../nodes/core/phone/written';

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
	// Digits of other scripts. All of them: test/nodes/core/values/text.test.ts.
	['+९१ ९८७६५-४३२१०', '+919876543210'],
	['٩٬٨٧٦٬٥٤٣٬٢١٠٫٠٠', '9876543210'],
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
	// Invisible characters.
	...['\0', '\ufe0d', '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u180e'].map(
		(character): [string, string] => [`${character}98765${character}43210`, '9876543210'],
	),
])('%j is read as %s', (value, digits) => {
	expect(digitsOf(value)).toBe(digits);
});

const NO_NUMBER = /^isn't a phone number$/;
const NOT_WHOLE = /^isn't a whole phone number$/;
const SHORTENED = /^may have lost its last digits/;
const CALCULATED = /^may have been calculated by the spreadsheet/;
const ERROR_VALUE = /^is what a spreadsheet shows if a formula fails$/;
const SEVERAL = /^contains more than one/;
test.each<[unknown, RegExp]>([
	['please call after lunch at 5', NO_NUMBER],
	['call 9.87654321e9', NO_NUMBER],
	['98765 tel:43210', NO_NUMBER],
	['98765/43210', NO_NUMBER],
	['030 1234/1235', NO_NUMBER],
	['030/123456/78', NO_NUMBER],
	['+49 30 123456/78', NO_NUMBER],
	['0301234567/78', NO_NUMBER],
	...['ext. 5', 'ext 5', 'Extn: 12', ';ext=5', 'x5', '#5', ', extension 1234'].map(
		(end): [string, RegExp] => [`9876543210 ${end}`, /^has an extension$/],
	),
	['\u2800-9876543119', CALCULATED],
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

/** What `act` returns, or the message with what to do. */
function resultOf<T>(act: () => T): T | string {
	try {
		return act();
	} catch (error) {
		const { message, resolution } = explained(error);
		return `${message}. ${resolution}`;
	}
}
const called = (value: unknown, country: string) => resultOf(() => phoneNumber(value, country));
const onDnd = (value: unknown) => resultOf(() => parseDndPhone(value));
const remembered = (value: unknown, country?: string) =>
	resultOf(() => loosePhoneKey(value, country));
const pushed = (value: unknown): string => {
	const reading = readCampaignPhone(value);
	return isAccepted(reading) ? reading.phone : reading.reason;
};

test.each<[unknown, pushed: string, onDnd: string]>([
	['98765 43210', '9876543210', '9876543210'],
	[9876543210, '9876543210', '9876543210'],
	['9000000000', '9000000000', '9000000000'],
	['9198765432', '9198765432', '9198765432'],
	['098765 43210', '9876543210', '9876543210'],
	['+91 98765 43210', '+919876543210', '+919876543210'],
	['+91 098765 43210', '+919876543210', '+919876543210'],
	['0091 98765 43210', '+919876543210', '+919876543210'],
	['091-9876543210', '+919876543210', '+919876543210'],
	// A list without + may be one with country codes.
	[919876543210, '+919876543210', '919876543210'],
	['91 98765 43210.00', '+919876543210', '919876543210'],
	// The service decides on landlines.
	['+91 11 2345 6789', '+911123456789', '+911123456789'],
	['91 11 2345 6789', '+911123456789', '911123456789'],
])(
	'in India, %p is pushed as %s, is on a do-not-disturb list as %s, and is one person',
	(value, toPush, toList) => {
		const subscriber = toPush.slice(-10);
		const key = `91${subscriber}`;
		expect(readCampaignPhone(value)).toEqual({ phone: toPush, phoneKey: key });
		expect(onDnd(value)).toBe(toList);
		expect(called(value, 'IN')).toBe(subscriber);
		expect([phoneKey(value, 'IN'), remembered(value, 'IN'), remembered(value)]).toEqual([
			key,
			key,
			key,
		]);
		expect(phoneKey(value)).toBe(String(value).startsWith('+') ? key : null);
	},
);

test.each<[country: string, unknown, called: string, key: string | null]>([
	['IN', '011-23456789', '1123456789', '911123456789'],
	['IN', '1800 123 4567', '18001234567', null],
	['US', '+1 (415) 555-0132', '4155550132', '14155550132'],
	['US', '001 415 555 0132', '4155550132', '14155550132'],
	['US', '(202) 555-0143', '2025550143', '12025550143'],
	['US', '917 555 0100', '9175550100', '19175550100'],
	['US', '1 202 555 0143', '12025550143', null],
	['US', '004 555', '004555', null],
	['CA', '604 555 0132', '6045550132', '16045550132'],
	['KZ', '+7 701 555 01 32', '7015550132', '77015550132'],
	['RU', '79123456789', '79123456789', null],
	['GB', '+44 20 7946 0958', '2079460958', '442079460958'],
	['GB', '+44 020 7946 0958', '02079460958', '442079460958'],
	['GB', '0044 20 7946 0958', '2079460958', '442079460958'],
	['GB', '020 7946 0958', '02079460958', '442079460958'],
	['GB', '20 7946 0958', '2079460958', '442079460958'],
	['GB', '4420 7946 0958', '442079460958', null],
	['GB', '00441', '00441', null],
	['GB', '+44 7911 000000', '7911000000', '447911000000'],
	['GB', '07911 000000', '07911000000', '447911000000'],
	// A spreadsheet that shortens a number removes its zeros.
	['GB', '0044 7911 000000', '7911000000', '447911000000'],
	['DE', '0151 12000000', '015112000000', '4915112000000'],
	['IN', '0091 98770 00000', '9877000000', '919877000000'],
	['GB', '00 20 7946 0958', '002079460958', null],
	['JE', '+44 1534 555 013', '1534555013', '441534555013'],
	['DE', '0049 301234', '301234', '49301234'],
	['DE', '0049 30', '004930', null],
	['DE', '030 123456', '030123456', '4930123456'],
	// A number has at most 15 digits.
	['DE', '030 12345678901', '03012345678901', '493012345678901'],
	['DE', '030 123456789012', '030123456789012', null],
	['IT', '+39 06 1234 5678', '0612345678', '390612345678'],
	['IT', '06 1234 5678', '0612345678', null],
	// Eight digits at home, or two fewer behind the country code.
	['SG', '6512 3456', '65123456', null],
	['SG', '9123 4567', '91234567', '6591234567'],
	['HU', '20 123 4567', '201234567', '36201234567'],
	['HU', '06 20 123 4567', '06201234567', null],
	['TM', '12 345678', '12345678', '99312345678'],
	['BY', '29 123 45 67', '291234567', '375291234567'],
	// The prefix of mobile numbers is dialed from abroad, too, or was.
	['AR', '11 2345-6789', '1123456789', '541123456789'],
	['AR', '9 11 2345-6789', '91123456789', '5491123456789'],
	['AR', '+54 9 11 2345-6789', '91123456789', '5491123456789'],
	['CI', '07 01 02 03 04', '0701020304', null],
	['AQ', '67212345', '67212345', null],
])('in %s, %p is called as %s, and its phone_key is %p', (country, value, toCall, key) => {
	expect(called(value, country)).toBe(toCall);
	expect(phoneKey(value, country)).toBe(key);
});

test.each<[unknown, string | null]>([
	['+1 (202) 555-0143', '12025550143'],
	['+7 701 555 01 32', '77015550132'],
	['+44 (0) 20 7946 0958', '442079460958'],
	['+39 06 1234 5678', '390612345678'],
	['+225 07 01 02 03 04', '2250701020304'],
	['+683 4000', '6834000'],
	['+91 98765', null],
	['+9198765432109876', null],
	['+44 12', null],
	['+44 00 20 7946 0958', null],
	['+999 123456789', null],
	['2025550123', null],
	['unknown', null],
	['', null],
	[null, null],
	[{}, null],
])('the phone_key of %p is %p everywhere', (value, key) => {
	expect(phoneKey(value)).toBe(key);
	if (key === null) return;
	for (const written of [value, `+${key}`]) expect(phoneKey(written, 'IN')).toBe(key);
});

test.each<[country: string | undefined, formats: string[], key: string]>([
	[undefined, ['+1 202-555-0123'], '12025550123'],
	['US', ['202-555-0123', '1 202 555 0123', '+1 202 555 0123'], '12025550123'],
	['GB', ['020 7946 0958', '+44 20 7946 0958', '+44 (0)20 7946 0958'], '442079460958'],
	['IT', ['391 234 5678', '+39 391 234 5678', '39 391 234 5678'], '393912345678'],
	['IT', ['06 1234 5678', '+39 06 1234 5678'], '390612345678'],
	['SG', ['6512 3456', '+65 6512 3456', '65 6512 3456'], '656565123456'],
	[
		'FR',
		['06 12 34 56 78', '33612345678', '+33 6 12 34 56 78', '+33 (0)6 12 34 56 78'],
		'333612345678',
	],
	['HU', ['06 20 123 4567', '20 123 4567', '+36 20 123 4567'], '366201234567'],
	[
		'MX',
		['55 1234 5678', '+52 55 1234 5678', '+52 1 55 1234 5678', '044 55 1234 5678'],
		'525512345678',
	],
	[
		'AR',
		['11 2345-6789', '011 2345-6789', '9 11 2345-6789', '+54 11 2345-6789', '+54 9 11 2345-6789'],
		'541123456789',
	],
	['RW', ['0720 123 456', '720 123 456', '+250 720 123 456'], '2500720123456'],
	['RU', ['8 912 345-67-89', '79123456789', '912 345 67 89', '+7 912 345 67 89'], '79123456789'],
	// Without a clear international format.
	['US', ['555 0123'], '115550123'],
	['AQ', ['555 0123'], 'AQ 5550123'],
])('in %s, %j are remembered as %s', (country, formats, key) => {
	for (const format of formats) expect(remembered(format, country)).toBe(key);
});

test('each number is remembered the same with and without its country code and the zero before it', () => {
	const countries = COUNTRIES.map(({ code }) => code).filter((code) => callingCodeOf(code));
	const numbers = fc.stringMatching(/^[1-9]\d{9}$/);
	fc.assert(
		fc.property(fc.constantFrom(...countries), numbers, (country, national) => {
			const code = callingCodeOf(country) ?? '';
			const number = country === 'IN' ? `9${national.slice(1)}` : national;
			const inCountry = hasTrunkZero(code) ? [`0${number}`, `${code}0${number}`] : [];
			const formats = [`+${code}${number}`, `00${code}${number}`, `${code}${number}`, ...inCountry];
			const keys = [number, ...formats].map((format) => loosePhoneKey(format, country));
			expect(uniqWith(keys, isEqual)).toHaveLength(1);
			expect(loosePhoneKey(`+${code}${number}`, undefined)).toEqual(keys[0]);
		}),
		{ numRuns: 1_000 },
	);
});

test('a number of each numbering plan is remembered the same as people write it at home and abroad, except with an 8 or 15 before fewer than ten digits', () => {
	const different = COUNTRIES.filter(({ code }) => {
		const example = isSupportedCountry(code) ? getExampleNumber(code, examples) : undefined;
		if (example === undefined) return false;
		const formats = [example.number, example.formatInternational(), example.formatNational()];
		const keys = [...formats, example.nationalNumber].map((format) => loosePhoneKey(format, code));
		return new Set(keys).size > 1;
	}).map(({ code }) => code);
	expect(different.sort()).toEqual(['AR', 'BY', 'TM']);
});

test.each<[unknown, onDnd: string]>([
	['+44 20 7946 0958', '+442079460958'],
	['(202) 555-0143', '2025550143'],
	['0044 20 7946 0958', '00442079460958'],
	['0091 11 2345 6789', '+911123456789'],
	['1909', '1909'],
])('%p is on a do-not-disturb list as %s', (value, sent) => {
	expect(onDnd(value)).toBe(sent);
});

const TEN_DIGITS = 'Enter the ten digits of the number, with or without +91.';
const AS_TEXT = 'Format the phone column as text in the spreadsheet and enter the full number';

test.each<[unknown, string]>([
	['7', `has 1 digit instead of 10. ${TEN_DIGITS}`],
	['0', 'has 1 digit instead of 10.'],
	['022 1234', 'has 7 digits instead of 10.'],
	['0987654321', 'has 9 digits after its 0 instead of 10.'],
	['987654321.0', 'has 9 digits instead of 10.'],
	['98765432101', 'has 11 digits instead of 10.'],
	['91987654321', 'has 11 digits instead of 10.'],
	['981234567890', 'has 12 digits instead of 10.'],
	['518001234567', 'has 12 digits instead of 10.'],
	['+91', 'has 0 digits after +91 instead of 10.'],
	['+91987654321.0', `has 9 digits after +91 instead of 10. ${TEN_DIGITS}`],
	['+91909876543210', 'has 12 digits after +91 instead of 10.'],
	['+91098765432101', 'has 12 digits after +91 instead of 10.'],
	[919877000000, `may have lost its last digits in a spreadsheet. ${AS_TEXT}s again.`],
	['9.88E+09', 'may have lost its last digits in a spreadsheet.'],
	[
		-9876543119,
		'may have been calculated by the spreadsheet, which subtracts what follows a hyphen.',
	],
	['#REF!', 'is what a spreadsheet shows if a formula fails. Correct the formula of the cell'],
	['9876543210 / 9123456789', 'contains more than one phone number. Keep only one number.'],
	['98765.5', "isn't a whole phone number. Write the number without a dot or comma."],
	['call me', "isn't a phone number."],
	['9876543210 ext. 5', 'has an extension. Write the number without its extension.'],
])('in India, %p is neither called nor pushed', (value, why) => {
	expect(called(value, 'IN')).toContain(`'Phone Number' "${String(value)}" ${why}`);
	expect(pushed(value)).toContain(`"${String(value)}" ${why}`);
});

const ACCEPTED =
	'The service accepts 10-digit mobile numbers that start with 6 to 9, and +91 followed by 10 digits.';
const EMPTY_CELL = 'The phone column of this row is empty.';

test.each<[unknown, string]>([
	...[undefined, null, '', ' \u00a0\u200b', '-'].map((cell): [unknown, string] => [
		cell,
		EMPTY_CELL,
	]),
	['+1 415 555 0100', `"+1 415 555 0100" isn't a +91 number. ${ACCEPTED}`],
	['0044 20 7946 0000', `"0044 20 7946 0000" isn't a +91 number. ${ACCEPTED}`],
	['+9876543210', `"+9876543210" isn't a +91 number. ${ACCEPTED}`],
	['009876543210', `"009876543210" isn't a +91 number. ${ACCEPTED}`],
	[
		'011-23456789',
		'"011-23456789" starts with 1, but a 10-digit mobile number starts with 6 to 9. If the number is correct, write +91 before it.',
	],
	// A + that a URL query has lost.
	...[' 16502530000', ' 6591234567', ' 6421123456'].map((cell): [unknown, string] => [
		cell,
		`"${cell.trim()}" begins with a space, which may be a + that was lost in a URL. Write the number with + and its country code.`,
	]),
	[['9876543210'], `The phone number is neither text nor a number. ${ACCEPTED}`],
	[` ${'x'.repeat(40)} `, `"${'x'.repeat(40)}" isn't a phone number. ${ACCEPTED}`],
	['x'.repeat(41), `"${'x'.repeat(40)}..." isn't a phone number. ${ACCEPTED}`],
])('%p is not pushed: %s', (cell, reason) => {
	expect(pushed(cell)).toBe(reason);
});

test.each([
	[' 9876543210', '9876543210'],
	[' 9607712345', '9607712345'],
	['  6591234567', '6591234567'],
	['6591234567', '6591234567'],
	[' 09876543210', '9876543210'],
	[' 919876543210', '+919876543210'],
])('%j begins with a stray space, or means %s anyway', (cell, phone) => {
	expect(pushed(cell)).toBe(phone);
});

const DIGITS_ALONE = 'Enter digits such as "9876543210".';
const OF_COLUMN = "In n8n, drag a column to 'Phone Number' to use its numbers.";
const EMPTY = `'Phone Number' is empty. Enter digits such as "9876543210". In n8n, if it's an expression, check the name of its column.`;
const otherThan = (country: string) => `has another country code, but 'Country' is ${country}`;

test.each<[string, unknown, string]>([
	[
		'IN',
		'+44 20 7946 0958',
		`${otherThan('India (+91)')}. Choose the country of the number in 'Country'`,
	],
	['IN', '0044 20 7946 0958', otherThan('India (+91)')],
	['IN', '+98765 43210', otherThan('India (+91)')],
	['GB', '+91 98765 43210', otherThan('United Kingdom (+44)')],
	['RU', '+1 415 555 0132', otherThan('Russia (+7)')],
	['AQ', '+672 12345', `${otherThan('Antarctica')}. Choose`],
	['GB', 447911000000, 'may have lost its last digits in a spreadsheet.'],
	['GB', '+44', 'has no digits after +44'],
	['GB', '+44 2079 4609 5812 3456', 'has 18 digits, but a phone number has at most 15'],
	['IN', 'phone', OF_COLUMN],
	['IN', true, `'Phone Number' "true" is neither text nor a number. ${DIGITS_ALONE}`],
	['IN', '', EMPTY],
	['IN', '  ', EMPTY],
	['IN', null, EMPTY],
])('in %s, %p is not called: %s', (country, value, words) => {
	expect(called(value, country)).toContain(words);
	expect(called(value, country).includes('column to')).toBe(words === OF_COLUMN);
});

const ITS_DIGITS = 'Enter its digits, with + and country code if your service expects them.';

test.each<[unknown, string]>([
	['+91 98765', `'Phone' "+91 98765" has 5 digits after +91 instead of 10. ${TEN_DIGITS}`],
	[
		'9.88E+09',
		`'Phone' "9.88E+09" may have lost its last digits in a spreadsheet. ${AS_TEXT}s again.`,
	],
	[
		919877000000,
		`'Phone' "919877000000" may have lost its last digits in a spreadsheet. ${AS_TEXT}s again.`,
	],
	['123', `'Phone' "123" isn't a phone number. ${ITS_DIGITS}`],
	[
		'call me',
		`'Phone' "call me" isn't a phone number. ${ITS_DIGITS} In n8n, drag a column to 'Phone' to use its numbers.`,
	],
	[
		'  ',
		'\'Phone\' is empty. Enter a number with + and its country code, such as "+919876543210".',
	],
	[
		null,
		'\'Phone\' is empty. Enter a number with + and its country code, such as "+919876543210".',
	],
])('%p is on no do-not-disturb list: %s', (value, message) => {
	expect(onDnd(value)).toBe(message);
});

const UNCLEAR = `has no clear international format. Enter the number with + and its country code, or choose its 'Country'.`;

test.each([
	[' ', undefined, "'Phone' is empty. Enter the phone number."],
	['2025550123', undefined, `'Phone' "2025550123" ${UNCLEAR}`],
	[
		'phone',
		undefined,
		`'Phone' "phone" ${UNCLEAR} In n8n, drag a column to 'Phone' to use its numbers.`,
	],
	['anonymous', 'IN', `'Phone' "anonymous" isn't a phone number. Enter a number with +`],
	['+1 415 555 0132', 'IN', `'Phone' "+1 415 555 0132" ${otherThan('India (+91)')}`],
])('"%s" (%s) cannot be remembered: %s', (value, country, message) => {
	expect(remembered(value, country)).toContain(message);
});
