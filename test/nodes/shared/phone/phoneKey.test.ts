import fc from 'fast-check';
import attempt from 'lodash/attempt';
import isEqual from 'lodash/isEqual';
import uniqWith from 'lodash/uniqWith';
import { callingCodeOf, COUNTRIES, hasTrunkZero } from '../../../../nodes/shared/phone/countries';
import { readCampaignPhone } from '../../../../nodes/shared/phone/campaignPhone';
import { loosePhoneKey, phoneKey } from '../../../../nodes/shared/phone/phoneKey';

test.each<[unknown, string]>([
	['+919876543210', '919876543210'],
	['+91 98765-43210', '919876543210'],
	['+91 (0) 98765 43210', '919876543210'],
	['+91 11 2345 6789', '911123456789'],
	['+1 (202) 555-0143', '12025550143'],
	['+7 701 555 01 32', '77015550132'],
	['+44 20 7946 0958', '442079460958'],
	['+44 020 7946 0958', '442079460958'],
	['+39 06 1234 5678', '390612345678'],
	['+225 07 01 02 03 04', '2250701020304'],
	['+683 4000', '6834000'],
	['+971 50 123 4567', '971501234567'],
])('with its country code, %p is %s everywhere', (value, key) => {
	expect(phoneKey(value)).toBe(key);
	expect(phoneKey(value, 'IN')).toBe(key);
});

test.each<[string | undefined, unknown, string | null]>([
	['IN', '011-2345 6789', '911123456789'],
	['US', '(202) 555-0143', '12025550143'],
	['US', '1 202 555 0143', '12025550143'],
	['CA', '604 555 0132', '16045550132'],
	['RU', '8 912 345 67 89', '79123456789'],
	['RU', '79123456789', '79123456789'],
	['GB', '020 7946 0958', '442079460958'],
	['GB', '20 7946 0958', '442079460958'],
	['GB', '0044 20 7946 0958', '442079460958'],
	['DE', '030 123456', '4930123456'],
	['DE', '030 1234567890123', null],
	['IT', '06 1234 5678', '390612345678'],
	['SG', '9123 4567', '6591234567'],
	['HU', '20 123 4567', '36201234567'],
	['TM', '12 345678', '99312345678'],
	['BY', '29 123 45 67', '375291234567'],
	// Not certain.
	['IN', '98765', null],
	['IN', '98765432101', null],
	['US', '555 0143', null],
	['US', '2 202 555 0143', null],
	['RU', '912 345', null],
	['RU', '9 912 345 67 89', null],
	// Eight digits at home, or two fewer behind the country code.
	['SG', '6512 3456', null],
	['GB', '4420 7946 0958', null],
	['GB', '00441', null],
	['GB', '00 20 7946 0958', null],
	['HU', '06 20 123 4567', null],
	['LT', '8 612 34567', null],
	['TM', '8 12 345678', null],
	['BY', '8 029 123 45 67', null],
	['CI', '07 01 02 03 04', null],
	['AQ', '123456789', null],
	['XX', '123456789', null],
	[undefined, '919876543210', null],
	[undefined, 919876543210, null],
	[undefined, '9876543210', null],
	[undefined, '00919876543210', null],
	[undefined, '+91 98765', null],
	[undefined, '+1 202 555 014', null],
	[undefined, '+7 701 555', null],
	[undefined, '+999 123456789', null],
	[undefined, '+44 00 20 7946 0958', null],
	[undefined, '+44 12', null],
	[undefined, '+9198765432109876', null],
	[undefined, 'unknown', null],
	[undefined, '', null],
	[undefined, null, null],
	[undefined, {}, null],
])('with the country %p, the key of %p is %p', (country, value, key) => {
	expect(phoneKey(value, country)).toBe(key);
});

test('formatting does not change the key, and + with the key gives the key', () => {
	const digits = fc.stringMatching(/^[1-9]\d{6,14}$/);
	const decoration = fc.array(fc.constantFrom('', ' ', '-', '\u00a0'), {
		minLength: 15,
		maxLength: 15,
	});
	fc.assert(
		fc.property(digits, decoration, (number, between) => {
			const decorated = [...number].map((digit, i) => `${digit}${between[i] ?? ''}`).join('');
			const key = phoneKey(`+${number}`);
			expect(phoneKey(`+${decorated}`)).toBe(key);
			if (key !== null) expect(phoneKey(`+${key}`)).toBe(key);
		}),
	);
});

test.each([
	['9876543210', undefined],
	['+91 98765-43210', undefined],
	['0091 98765 43210', undefined],
	[9_876_543_210, undefined],
	['098765 43210', 'IN'],
])('%s (%s) has the key of a pushed number', (value, country) => {
	expect(loosePhoneKey(value, country)).toBe('919876543210');
	expect(readCampaignPhone(value)).toHaveProperty('phoneKey', '919876543210');
});

test.each([
	['+1 202-555-0123', undefined, '12025550123'],
	['202 555 0123', 'US', '12025550123'],
	// Without a clear international format.
	['555 0123', 'US', '15550123'],
	['555 0123', 'AQ', 'AQ 5550123'],
])('%s (%s) is remembered as %s', (value, country, key) => {
	expect(loosePhoneKey(value, country)).toBe(key);
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

test.each([
	['IT', ['391 234 5678', '+39 391 234 5678', '39 391 234 5678']],
	['SG', ['6512 3456', '+65 6512 3456', '65 6512 3456']],
	['FR', ['06 12 34 56 78', '33612345678', '+33 6 12 34 56 78', '+33 (0)6 12 34 56 78']],
	['LT', ['8 612 34567', '612 34567', '+370 612 34567', '370 612 34567']],
	['HU', ['06 20 123 4567', '20 123 4567', '+36 20 123 4567']],
	['RU', ['8 912 345-67-89', '79123456789', '912 345 67 89']],
])('in %s, %p are remembered as the same number', (country, formats) => {
	const keys = formats.map((format) => loosePhoneKey(format, country));
	expect(uniqWith(keys, isEqual)).toHaveLength(1);
});

test.each([
	['KZ', '+7 777 123 45 67', '+7 778 123 45 67'],
	['IT', '06 1234 5678', '61234 5678'],
	['FR', '06 12 34 56 78', '06 12 34 56 79'],
])('in %s, %s and %s are different numbers', (country, one, other) => {
	expect(loosePhoneKey(one, country)).not.toEqual(loosePhoneKey(other, country));
});

test('the number of another country is never that of an Indian person', () => {
	expect(loosePhoneKey('917 555 0100', 'US')).toBe('19175550100');
});

test.each([
	['', undefined, "'Phone' is empty"],
	['2025550123', undefined, `'Phone' "2025550123" has no clear international format`],
	['phone', undefined, `'Phone' "phone" has no clear international format`],
	['anonymous', 'IN', `'Phone Number' "anonymous"`],
])('"%s" (%s) is not clear', (value, country, message) => {
	expect(() => loosePhoneKey(value, country)).toThrow(message);
});

test.each([
	[' ', 'Enter the phone number to forget.'],
	['phone', expect.stringContaining("drag the column to 'Phone'.")],
])('what to do with "%s"', (value, onScreen: unknown) => {
	const error: unknown = attempt(() => loosePhoneKey(value, undefined));
	expect(error).toMatchObject({ resolution: onScreen });
});
