import {
	getCountryCallingCode,
	getExampleNumber,
	isSupportedCountry,
	parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import { InvalidInput } from '../../../../nodes/core/service/errors';
import {
	callingCodeOf,
	COUNTRIES,
	countryCode,
	findCountry,
	hasTrunkZero,
	leadingCode,
} from '../../../../nodes/core/phone/countries';

test('the 249 countries of ISO 3166, each once, in the order of their names without accents', () => {
	expect(COUNTRIES).toHaveLength(249);
	expect(new Set(COUNTRIES.map(({ code }) => code)).size).toBe(249);
	expect(new Set(COUNTRIES.map(({ name }) => name)).size).toBe(249);
	for (const { code, name } of COUNTRIES) {
		expect(code).toMatch(/^[A-Z]{2}$/);
		expect(name).not.toBe(code);
	}
	const names = COUNTRIES.map(({ name }) => name);
	expect([...names.slice(0, 2), names.at(-1)]).toEqual([
		'Afghanistan',
		'Åland Islands',
		'Zimbabwe',
	]);
});

test.each(['IN', ' us ', 'gb', 'AQ'])('%j is a country code', (code) => {
	expect(countryCode(code)).toBe(code.trim().toUpperCase());
});

test.each<[code: string, ...names: string[]]>([
	['IN', 'India', ' INDIA ', 'Republic of India', 'Bharat', 'भारत', 'IND'],
	['GB', 'UK', 'U.K.', 'United Kingdom', 'the United Kingdom', 'Great Britain', 'England', 'Wales'],
	['US', 'USA', 'U.S.A.', 'U.S.', 'United States', 'United States of America'],
	['AE', 'UAE', 'U.A.E', 'United Arab Emirates'],
	['TR', 'Turkey', 'Türkiye', 'turkiye'],
	['CI', "Cote d'Ivoire", 'Côte d’Ivoire', 'Ivory Coast'],
	['TT', 'Trinidad & Tobago', 'Trinidad and Tobago'],
	['LC', 'St. Lucia', 'Saint Lucia', 'St Lucia'],
	['CZ', 'Czech Republic', 'Czechia'],
	['KR', 'South Korea', 'Korea, Republic of', 'Republic of Korea'],
	['RU', 'Russian Federation', 'Russia'],
	['VN', 'Viet Nam', 'Vietnam'],
	['TZ', 'Tanzania'],
	['HK', 'Hong Kong', 'Hong Kong SAR China'],
	['NL', 'The Netherlands', 'Holland', 'Netherlands'],
	['CD', 'Congo - Kinshasa'],
	['VG', 'British Virgin Islands'],
])('%s is the code of %s and its other names', (code, ...names) => {
	for (const name of names) expect(countryCode(name)).toBe(code);
});

test('every country is known by the name that the form shows', () => {
	const read = COUNTRIES.map(({ code, name }) => [
		countryCode(name),
		countryCode(name.toUpperCase()),
		code,
	]);
	expect(read).toEqual(COUNTRIES.map(({ code }) => [code, code, code]));
});

test.each([
	...['AT AUT', 'AU AUS', 'CH CHE', 'CN CHN', 'DE DEU', 'DK DNK', 'IE IRL', 'IL ISR', 'JM JAM'],
	...['KP PRK', 'KR KOR', 'KZ KAZ', 'LY LBY', 'NE NER', 'NG NGA', 'PK PAK', 'PT PRT', 'SE SWE'],
	...['AE ARE', 'GB GBR', 'IN IND', 'SG SGP', 'US USA', 'AQ ATA', 'UM UMI', 'AX ALA', 'ME MNE'],
])('%s are the codes of one country', (codes) => {
	const [alpha2 = '', alpha3 = ''] = codes.split(' ');
	expect([countryCode(alpha3), countryCode(alpha3.toLowerCase())]).toEqual([alpha2, alpha2]);
});

test('each country has one code of three letters, and no other word of three letters is a country', () => {
	const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
	const words = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
	const known = words.map(findCountry);
	const names = ['KSA', 'UAE'];
	expect(compact(known)).toHaveLength(249 + names.length);
	expect(uniq(compact(known))).toHaveLength(249);
});

// Names of several countries, of none, and what isn't a name.
test.each([
	...['Korea', 'Congo', 'Virgin Islands', 'Ireland (North)', 'Indian', 'Indiana', 'Asia', 'XK'],
	...[
		'India (US)',
		'Korea (South)',
		'()',
		'ZZZ',
		'+91',
		'91',
		'44',
		'-',
		'N/A',
		'#REF!',
		'IN/US',
		'India, US',
	],
])('%j is no country', (text) => {
	expect(() => countryCode(text)).toThrow(InvalidInput);
});

/** What a library of numbering plans knows of a country. */
const plannedCode = (country: string) =>
	isSupportedCountry(country) ? getCountryCallingCode(country) : undefined;
const codes = new Set(COUNTRIES.flatMap(({ code }) => callingCodeOf(code) ?? []));

test('every country has the calling code of its numbering plan', () => {
	const ours = COUNTRIES.map(({ code }) => [code, callingCodeOf(code)]);
	expect(ours).toEqual(COUNTRIES.map(({ code }) => [code, plannedCode(code)]));
});

test('finds the code of digits, and no code is a prefix of another', () => {
	for (const code of codes) {
		expect(leadingCode(`${code}23456`)).toBe(code);
		expect(leadingCode(code)).toBe(code);
	}
	expect(leadingCode('999')).toBeUndefined();
	expect(leadingCode('')).toBeUndefined();
});

test('with a zero before the number, no number begins with zero', () => {
	const samples = Array.from({ length: 9 }, (_, first) => `0${first + 1}`).flatMap((start) =>
		Array.from({ length: 11 }, (_, length) => start + '234567891234'.slice(0, length)),
	);
	const wrong = [...codes].filter(
		(code) =>
			hasTrunkZero(code) &&
			samples.some((sample) => {
				const parsed = parsePhoneNumberFromString(`+${code}${sample}`);
				return parsed?.isValid() === true && parsed.nationalNumber.startsWith('0');
			}),
	);
	expect(wrong).toEqual([]);
});

test('the zero before the number is known if the country has no other national prefix', () => {
	const dialed = COUNTRIES.filter(({ code }) => {
		const example = isSupportedCountry(code) ? getExampleNumber(code, examples) : undefined;
		const atHome = parsePhoneNumberFromString(`0${example?.nationalNumber}`, example?.country);
		return example !== undefined && atHome?.number === example.number;
	}).map(({ code }) => callingCodeOf(code) ?? '');
	expect(dialed.length).toBeGreaterThan(80);
	// Some numbers of Rwanda begin with a zero.
	expect(dialed.filter((code) => !hasTrunkZero(code))).toEqual(['250']);
});
