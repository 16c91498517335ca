import { otherCountryBeside } from '../../../../nodes/core/phone/countryBeside';

const beside = (row: object, number: unknown = '6502530000', country = 'IN') =>
	otherCountryBeside({ phone: number, ...row }, number, country);

test.each([
	...['country_code', 'Country Code', 'countryCode', 'COUNTRY-CODE', 'Country', 'country/region'],
	...['country_iso_code', 'ISO Country', 'ISD', 'isd_code', 'dialCode', 'Dialling Code'],
	...['Calling Code', 'countryCallingCode', 'Phone Country Code', 'MailingCountry', 'Country *'],
	...['Lead Country', 'customer_country', 'Contact Country', 'WhatsApp Country Code'],
])('the heading %j is that of a country', (heading) => {
	expect(beside({ [heading]: '+1' })).toBe(`The column "${heading}" says "+1"`);
	expect(beside({ [heading]: '+91' })).toBeUndefined();
});

test.each([
	...['Nationality', 'Preferred Country', 'Country of Birth', 'Destination Country', 'code'],
	...['Area Code', 'STD Code', 'PIN Code', 'Prefix', 'Calling', 'cf-ipcountry', 'countries'],
])('the heading %j is not that of the country of the number', (heading) => {
	expect(beside({ [heading]: '+1' })).toBeUndefined();
});

test.each<unknown>([
	...['+1', '1', 1, '001', ' +1 ', '1.0', '(+1)', '+1-868', '+1868', '+1 (US)', 'USA (+1)'],
	...['US', 'us', 'USA', 'United States', 'Canada', '0065', 65, 'Singapore', '+971', 'UAE', 'UK'],
	...['CAN', 'GBR', 'SGP', 'ARE', 'NPL'],
])('%p says another country than India', (cell) => {
	expect(beside({ country: cell })).toBe(`The column "country" says "${String(cell).trim()}"`);
});

test.each<unknown>([
	...['91', 91, '+91', '0091', '91.0', 'IN', 'in', 'India', 'Bharat', '+91 (India)', 'IN +91'],
	'IND',
	// Nothing, and nothing that is certainly a country.
	...['', ' ', '-', undefined, null, {}, ['+1'], true, 'South', 'N/A', 'NULL', 'Others', 'Yes'],
	...['999', '+999', '0', 12, '101', '1234', '6502530000', '1 India', 'Area 51', 'US/IN', 'Asia'],
])('%p says no other country than India', (cell) => {
	expect(beside({ country: cell })).toBeUndefined();
});

test.each<[country: string, said: string, isOther: boolean]>([
	['US', 'Canada', false],
	['GB', '+44', false],
	['GB', 'India', true],
	['SG', '91', true],
])('for %s, %s is another country: %p', (country, said, isOther) => {
	expect(beside({ country: said }, '6502530000', country) !== undefined).toBe(isOther);
});

test.each<[unknown, boolean]>([
	['+91 98765 43210', false],
	['0091 98765 43210', false],
	// Without +, it may be a number of another country that begins like that.
	['91 98765 43210', true],
	['9876543210', true],
])('beside another country, %p is uncertain: %p', (number, isUncertain) => {
	expect(beside({ country: 'USA' }, number) !== undefined).toBe(isUncertain);
});

test('in an object, columns count beside the number that it has', () => {
	const contact = { phone: '6502530000', country: 'USA' };
	const row = { body: contact, agent: { country: 'US' } };
	expect(otherCountryBeside(row, '6502530000', 'IN')).toBe('The column "country" says "USA"');
	expect(otherCountryBeside(row, '9876543210', 'IN')).toBeUndefined();
});
