import {
	COUNTRIES,
	isCountryCode,
	suggestCountry,
	withoutAccents,
} from '../../../../nodes/shared/phone/countries';

describe('countries', () => {
	it('has the 249 assigned codes, each once and with its own name', () => {
		expect(COUNTRIES).toHaveLength(249);
		expect(new Set(COUNTRIES.map(({ code }) => code)).size).toBe(249);
		expect(new Set(COUNTRIES.map(({ name }) => name)).size).toBe(249);
		for (const { code, name } of COUNTRIES) {
			expect(code).toMatch(/^[A-Z]{2}$/);
			expect(name).not.toBe(code);
		}
	});

	it('is in the order of the names, without accents', () => {
		const names = COUNTRIES.map(({ name }) => name);
		expect(names[0]).toBe('Afghanistan');
		expect(names.indexOf('Åland Islands')).toBe(1);
		expect(names.at(-1)).toBe('Zimbabwe');
	});

	it.each(['IN', 'US', 'GB', 'AE'])('knows %s', (code) => {
		expect(isCountryCode(code)).toBe(true);
	});

	it.each(['in', 'UK', 'EU', 'XK', 'IND', '91', ''])('does not know %p', (code) => {
		expect(isCountryCode(code)).toBe(false);
	});

	it.each([
		['India', 'IN'],
		[' india ', 'IN'],
		['niger', 'NE'],
		['Germany', 'DE'],
		['turkiye', 'TR'],
		["Cote d'Ivoire", 'CI'],
		['Great Britain', undefined],
		['Arab Emirates', 'AE'],
		['UK', 'GB'],
		['uk', 'GB'],
		['EU', undefined],
		['United', undefined],
		['Ira', undefined],
		['IND', undefined],
		['+91', undefined],
		['Atlantis', undefined],
		['', undefined],
	])('for %p suggests %p', (text, code) => {
		expect(suggestCountry(text)?.code).toBe(code);
	});

	it('writes a name without accents', () => {
		expect(withoutAccents('Côte d’Ivoire')).toBe("Cote d'Ivoire");
	});
});
