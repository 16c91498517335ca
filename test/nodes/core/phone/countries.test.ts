import {
	getCountryCallingCode,
	isSupportedCountry,
	parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import uniq from 'lodash/uniq';
import { InvalidInput } from '../../../../nodes/core/service/errors';
import {
	callingCodeOf,
	COUNTRIES,
	countryCode,
	countryName,
	KEEPS_ZERO,
	leadingCode,
} from '../../../../nodes/core/phone/countries';

const codes = uniq(COUNTRIES.map((country) => callingCodeOf(country) ?? ''));

test('the 249 countries of ISO 3166 have codes of two letters, and different names', () => {
	expect(uniq(COUNTRIES)).toHaveLength(249);
	expect(uniq(COUNTRIES.map(countryName))).toHaveLength(249);
	for (const code of COUNTRIES) {
		expect(code).toMatch(/^[A-Z]{2}$/);
		expect(countryName(code)).not.toBe(code);
	}
});

test('each country is known by its code and its name, in any case', () => {
	for (const code of COUNTRIES) {
		const name = countryName(code);
		const texts = [code, ` ${code.toLowerCase()} `, name, name.toUpperCase()];
		expect(texts.map(countryCode)).toEqual([code, code, code, code]);
	}
});

test.each<[code: string, ...names: string[]]>([
	['GB', 'UK', 'U.K.', 'Great Britain', 'England'],
	['US', 'USA', 'U.S.A.', 'U.S.', 'United States of America'],
	['AE', 'UAE', 'U.A.E'],
	['TR', 'Turkey', 'Türkiye', 'turkiye'],
	['CI', "Cote d'Ivoire", 'Ivory Coast'],
	['TT', 'Trinidad and Tobago'],
	['HK', 'Hong Kong'],
])('%s is the code of %s and its other names', (code, ...names) => {
	for (const name of names) expect(countryCode(name)).toBe(code);
});

// Names of several countries, of none, and what isn't a name.
test.each([
	...['Korea', 'Congo', 'Virgin Islands', 'Indian', 'Indiana', 'Asia', 'XK', 'India (US)', '()'],
	...['ZZZ', '+91', '91', '-', 'N/A', '#REF!', 'IN/US', 'India, US', ''],
])('%j is no country', (text) => {
	expect(() => countryCode(text)).toThrow(InvalidInput);
});

test('every country has the calling code of its numbering plan', () => {
	const planned = COUNTRIES.filter((country) => isSupportedCountry(country));
	expect(planned.length).toBeGreaterThan(240);
	for (const country of planned) {
		expect([country, callingCodeOf(country)]).toEqual([country, getCountryCallingCode(country)]);
	}
});

test('finds the code of digits, and no code is a prefix of another', () => {
	for (const code of codes) {
		expect(leadingCode(`${code}23456`)).toBe(code);
		expect(leadingCode(code)).toBe(code);
	}
	expect([leadingCode('999'), leadingCode('')]).toEqual([undefined, undefined]);
});

test('outside the countries that keep a zero, no number begins with it', () => {
	const samples = Array.from({ length: 9 }, (_, first) => `0${first + 1}`).flatMap((start) =>
		Array.from({ length: 11 }, (_, length) => start + '234567891234'.slice(0, length)),
	);
	const wrong = codes.filter(
		(code) =>
			!KEEPS_ZERO.has(code) &&
			samples.some((sample) => {
				const parsed = parsePhoneNumberFromString(`+${code}${sample}`);
				return parsed?.isValid() === true && parsed.nationalNumber.startsWith('0');
			}),
	);
	expect(wrong).toEqual([]);
});
