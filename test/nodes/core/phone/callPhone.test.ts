import fc from 'fast-check';
import { getExampleNumber, isSupportedCountry } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import uniq from 'lodash/uniq';
import { explained } from '../../../../nodes/core/service/errors';
import { parseDndPhone } from '../../../../nodes/core/dnd/listedNumbers';
import { loosePhoneKey, phoneKey, phoneNumber } from '../../../../nodes/core/phone/callPhone';
import { isAccepted, readCampaignPhone } from '../../../../nodes/core/phone/india';
import { callingCodeOf, COUNTRIES, KEEPS_ZERO } from '../../../../nodes/core/phone/countries';

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
const pushed = (value: unknown): string => {
	const reading = readCampaignPhone(value);
	return isAccepted(reading) ? reading.phone : reading.reason;
};

test.each<[unknown, pushed: string, onDnd: string]>([
	['98765 43210', '9876543210', '9876543210'],
	[9876543210, '9876543210', '9876543210'],
	['9198765432', '9198765432', '9198765432'],
	['098765 43210', '9876543210', '9876543210'],
	['+91 98765 43210', '+919876543210', '+919876543210'],
	['+91 (0) 98765 43210', '+919876543210', '+919876543210'],
	['+91 098765 43210', '+919876543210', '+919876543210'],
	['0091 98770 00000', '+919877000000', '+919877000000'],
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
		const keys = [phoneKey(value, 'IN'), loosePhoneKey(value, 'IN'), loosePhoneKey(value)];
		expect(keys).toEqual([key, key, key]);
		expect(phoneKey(value)).toBe(String(value).startsWith('+') ? key : null);
	},
);

test.each<[country: string, unknown, called: string, key: string | null]>([
	['IN', '011-23456789', '1123456789', '911123456789'],
	['US', '+1 (415) 555-0132', '4155550132', '14155550132'],
	['US', '001 415 555 0132', '4155550132', '14155550132'],
	['US', '(202) 555-0143', '2025550143', '12025550143'],
	['US', '1 202 555 0143', '12025550143', null],
	['US', '0044 20 7946 0958', '00442079460958', null],
	['KZ', '+7 701 555 01 32', '7015550132', '77015550132'],
	['RU', '79123456789', '79123456789', null],
	['GB', '+44 20 7946 0958', '2079460958', '442079460958'],
	['GB', '+44 (0) 20 7946 0958', '2079460958', '442079460958'],
	['GB', '+44 020 7946 0958', '02079460958', '442079460958'],
	['GB', '0044 7911 000000', '7911000000', '447911000000'],
	['GB', '020 7946 0958', '02079460958', '442079460958'],
	['GB', '4420 7946 0958', '442079460958', null],
	['DE', '030 123456', '030123456', '4930123456'],
	['IT', '+39 06 1234 5678', '0612345678', '390612345678'],
	['IT', '06 1234 5678', '0612345678', '390612345678'],
	// Eight digits at home, or two fewer behind the country code.
	['SG', '6512 3456', '65123456', null],
	['SG', '9123 4567', '91234567', '6591234567'],
	['CI', '07 01 02 03 04', '0701020304', '2250701020304'],
])('in %s, %p is called as %s, and its phone_key is %p', (country, value, toCall, key) => {
	expect(called(value, country)).toBe(toCall);
	expect(phoneKey(value, country)).toBe(key);
});

test.each<[unknown, string | null]>([
	['+1 (202) 555-0143', '12025550143'],
	['+44 (0) 20 7946 0958', '442079460958'],
	['+39 06 1234 5678', '390612345678'],
	['+683 4000', '6834000'],
	['+91 98765', null],
	['+999 123456789', null],
	['2025550123', null],
	['unknown', null],
	[null, null],
])('the phone_key of %p is %p everywhere', (value, key) => {
	expect(phoneKey(value)).toBe(key);
	if (key !== null) expect([phoneKey(value, 'IN'), phoneKey(`+${key}`, 'FR')]).toEqual([key, key]);
});

test.each<[country: string | undefined, key: string, formats: string[]]>([
	[undefined, '12025550123', ['+1 202-555-0123']],
	[undefined, '911123456789', ['011 2345 6789', '+91 11 2345 6789']],
	['US', '12025550123', ['202-555-0123', '1 202 555 0123', '+1 202 555 0123']],
	['GB', '442079460958', ['020 7946 0958', '+44 20 7946 0958', '+44 (0)20 7946 0958']],
	['IT', '393912345678', ['391 234 5678', '+39 391 234 5678', '39 391 234 5678']],
	['SG', '656565123456', ['6512 3456', '+65 6512 3456', '65 6512 3456']],
	['FR', '333612345678', ['06 12 34 56 78', '33612345678', '+33 6 12 34 56 78']],
	['HU', '366201234567', ['06 20 123 4567', '20 123 4567', '+36 20 123 4567']],
	['MX', '525512345678', ['55 1234 5678', '+52 1 55 1234 5678', '044 55 1234 5678']],
	['AR', '541123456789', ['011 2345-6789', '9 11 2345-6789', '+54 9 11 2345-6789']],
	['RU', '79123456789', ['8 912 345-67-89', '79123456789', '+7 912 345 67 89']],
])('in %s, %s is the person of %j', (country, key, formats) => {
	for (const format of formats) expect(loosePhoneKey(format, country)).toBe(key);
});

test('each number is one person with and without its country code and the zero before it', () => {
	const numbers = fc.stringMatching(/^[1-9]\d{9}$/);
	fc.assert(
		fc.property(fc.constantFrom(...COUNTRIES), numbers, (country, national) => {
			const code = callingCodeOf(country) ?? '';
			const number = country === 'IN' ? `9${national.slice(1)}` : national;
			const inCountry = KEEPS_ZERO.has(code) ? [] : [`0${number}`, `${code}0${number}`];
			const formats = [`+${code}${number}`, `00${code}${number}`, `${code}${number}`, ...inCountry];
			const keys = [number, ...formats].map((format) => loosePhoneKey(format, country));
			expect(uniq([...keys, loosePhoneKey(`+${code}${number}`)])).toHaveLength(1);
		}),
		{ numRuns: 1_000 },
	);
});

test('a number of each numbering plan is one person as people write it at home and abroad, except with an 8 or 15 before fewer than ten digits', () => {
	const different = COUNTRIES.filter((code) => {
		const example = isSupportedCountry(code) ? getExampleNumber(code, examples) : undefined;
		if (example === undefined) return false;
		const formats = [example.number, example.formatInternational(), example.formatNational()];
		const keys = [...formats, example.nationalNumber].map((format) => loosePhoneKey(format, code));
		return uniq(keys).length > 1;
	});
	expect(different.sort()).toEqual(['AR', 'BY', 'TM']);
});

const TEN_DIGITS = 'Enter the ten digits of the number, with or without +91.';
const AS_TEXT = 'Format the phone column as text in the spreadsheet and enter the full number';

test.each<[unknown, string]>([
	['7', `has 1 digit instead of 10. ${TEN_DIGITS}`],
	['022 1234', 'has 6 digits after its 0 instead of 10.'],
	['0987654321', 'has 9 digits after its 0 instead of 10.'],
	['91987654321', 'has 9 digits after +91 instead of 10.'],
	['981234567890', 'has 12 digits instead of 10.'],
	['+91987654321.0', `has 9 digits after +91 instead of 10. ${TEN_DIGITS}`],
	['+91909876543210', 'has 12 digits after +91 instead of 10.'],
	['0044 20 7946 0958', "isn't a +91 number."],
	[919877000000, `may have lost its last digits in a spreadsheet. ${AS_TEXT}s again.`],
	['call me', "isn't a phone number."],
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
	['+9876543210', `"+9876543210" isn't a +91 number. ${ACCEPTED}`],
	[
		'011-23456789',
		'"011-23456789" starts with 1, but a 10-digit mobile number starts with 6 to 9. If the number is correct, write +91 before it.',
	],
	...[' 6591234567', ' 6421123456'].map((cell): [unknown, string] => [
		cell,
		`"${cell}" begins with a space, which may be a + that was lost in a URL. Write the number with + and its country code.`,
	]),
	['x'.repeat(61), `"${'x'.repeat(60)}…" isn't a phone number. ${ACCEPTED}`],
])('%p is not pushed: %s', (cell, reason) => {
	expect(pushed(cell)).toBe(reason);
});

test.each([
	[' 9876543210', '9876543210'],
	['  6591234567', '6591234567'],
	['6591234567', '6591234567'],
	[' 919876543210', '+919876543210'],
])('%j begins with a stray space, or means %s anyway', (cell, phone) => {
	expect(pushed(cell)).toBe(phone);
});

const otherThan = (country: string) =>
	`has another country code, but 'Country' is ${country}. Choose the country of the number in 'Country', or correct the number.`;

test.each<[string, unknown, string]>([
	['IN', '+44 20 7946 0958', otherThan('India (+91)')],
	['GB', '+91 98765 43210', otherThan('United Kingdom (+44)')],
	['RU', '+1 415 555 0132', otherThan('Russia (+7)')],
	['GB', '+44', 'has no digits after +44. Enter digits such as'],
	['GB', '+44 2079 4609 5812 3456', 'has 18 digits, but a phone number has at most 15'],
	['IN', true, `"true" is neither text nor a number. Enter digits such as "9876543210".`],
	['IN', ' ', 'is empty. Enter digits such as "9876543210". In n8n, if it\'s an expression, check'],
])('in %s, %p is not called: %s', (country, value, words) => {
	expect(called(value, country)).toContain(words);
});

test('an empty number names the columns of its row', () => {
	const message = resultOf(() => phoneNumber('', 'IN', 'Phone Number', ['name', 'mobile']));
	expect(message).toMatch(/ The item has: "name", "mobile"\.$/);
});

test.each<[unknown, onDnd: string]>([
	['+44 20 7946 0958', '+442079460958'],
	['(202) 555-0143', '2025550143'],
	['0044 20 7946 0958', '00442079460958'],
	['0091 11 2345 6789', '+911123456789'],
	['1909', '1909'],
	['+91 98765', `'Phone' "+91 98765" has 5 digits after +91 instead of 10. ${TEN_DIGITS}`],
	[
		'123',
		`'Phone' "123" isn't a phone number. Enter its digits, with + and country code if your service expects them.`,
	],
	[
		null,
		'\'Phone\' is empty. Enter a number with + and its country code, such as "+919876543210".',
	],
])('%p is on a do-not-disturb list as, or is not because: %s', (value, sent) => {
	expect(onDnd(value)).toBe(sent);
});
