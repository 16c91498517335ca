import {
	getCountryCallingCode,
	getExampleNumber,
	isSupportedCountry,
	parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import {
	callingCodeOf,
	COUNTRIES,
	countriesWith,
	countryCode,
	hasTrunkZero,
	leadingCode,
	suggestCountry,
} from '../../../../nodes/shared/phone/countries';

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
	expect(countryCode(code)).toEqual({ value: code.trim().toUpperCase() });
});

test.each([
	['India', 'IN'],
	[' india ', 'IN'],
	['niger', 'NE'],
	['turkiye', 'TR'],
	["Cote d'Ivoire", 'CI'],
	['Great Britain', undefined],
	['Arab Emirates', 'AE'],
	['UK', 'GB'],
	['uk', 'GB'],
	['EU', undefined],
	['XK', undefined],
	['United', undefined],
	['Ira', undefined],
	['Nepa', 'NP'],
	['IND', undefined],
	['+91', undefined],
	['Atlantis', undefined],
])('%j is no country code, and the suggestion is %p', (text, code) => {
	expect(countryCode(text)).toHaveProperty('problem');
	expect(suggestCountry(text)?.code).toBe(code);
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

test('drops a bracketed zero if the country has no other national prefix', () => {
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
