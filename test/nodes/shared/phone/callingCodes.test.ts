import {
	getCountryCallingCode,
	getExampleNumber,
	isSupportedCountry,
	parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { COUNTRIES } from '../../../../nodes/shared/phone/countries';
import {
	callingCodeOf,
	countriesWith,
	hasTrunkZero,
	leadingCode,
} from '../../../../nodes/shared/phone/callingCodes';

/** What a library of numbering plans knows of a country. */
const plannedCode = (country: string) =>
	isSupportedCountry(country) ? getCountryCallingCode(country) : undefined;

test('every country has the calling code of its numbering plan', () => {
	const ours = COUNTRIES.map(({ code }) => [code, callingCodeOf(code)]);
	expect(ours).toEqual(COUNTRIES.map(({ code }) => [code, plannedCode(code)]));
});

test('these countries have no numbering plan', () => {
	const without = COUNTRIES.filter(({ code }) => callingCodeOf(code) === undefined);
	expect(without.map(({ code }) => code).sort()).toEqual([
		'AQ',
		'BV',
		'GS',
		'HM',
		'PN',
		'TF',
		'UM',
	]);
});

test('finds the code of digits, and no code is a prefix of another', () => {
	const codes = new Set(COUNTRIES.flatMap(({ code }) => callingCodeOf(code) ?? []));
	for (const code of codes) {
		expect(leadingCode(`${code}23456`)).toBe(code);
		expect(leadingCode(code)).toBe(code);
		expect(countriesWith(code).map(callingCodeOf)).toEqual(countriesWith(code).map(() => code));
	}
	expect(leadingCode('999')).toBeUndefined();
	expect(countriesWith('999')).toEqual([]);
	expect(leadingCode('')).toBeUndefined();
});

test.each([
	['1', 'US'],
	['7', 'RU'],
	['44', 'GB'],
	['61', 'AU'],
])('the main country of +%s is %s', (code, country) => {
	expect(countriesWith(code)[0]).toBe(country);
});

test('if a bracketed zero is dropped, no number begins with zero', () => {
	const samples = Array.from({ length: 9 }, (_, first) => `0${first + 1}`).flatMap((start) =>
		Array.from({ length: 11 }, (_, length) => start + '234567891234'.slice(0, length)),
	);
	const codes = new Set(COUNTRIES.flatMap(({ code }) => callingCodeOf(code) ?? []));
	const wrong = [...codes].filter(
		(code) =>
			hasTrunkZero(code) &&
			samples.some((sample) => {
				const parsed = parsePhoneNumberFromString(`+${code}${sample}`);
				return parsed?.isValid() === true && parsed.nationalNumber.startsWith('0');
			}),
	);
	expect(wrong).toEqual([]);
	expect(['44', '49', '91', '971'].every(hasTrunkZero)).toBe(true);
	expect(['39', '1', '7', '378', '242', '250'].some(hasTrunkZero)).toBe(false);
});

test('drops a bracketed zero if the country has no other national prefix', () => {
	const codes = new Set(COUNTRIES.flatMap(({ code }) => callingCodeOf(code) ?? []));
	const dialed = [...codes].filter((code) => {
		const [main = ''] = countriesWith(code);
		const example = isSupportedCountry(main) ? getExampleNumber(main, examples) : undefined;
		const atHome = parsePhoneNumberFromString(`0${example?.nationalNumber}`, example?.country);
		return example !== undefined && atHome?.number === example.number;
	});
	expect(dialed.length).toBeGreaterThan(80);
	// Belarus dials 8 as well, and some numbers of Rwanda begin with a zero.
	expect(dialed.filter((code) => !hasTrunkZero(code)).sort()).toEqual(['250', '375']);
});
