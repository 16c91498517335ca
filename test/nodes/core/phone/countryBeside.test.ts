import { otherCountryBeside } from '../../../../nodes/core/phone/countryBeside';

const beside = (row: object, number: unknown = '6502530000', country = 'IN') =>
	otherCountryBeside({ phone: number, ...row }, number, country);

test.each([
	...['country_code', 'Country Code', 'countryCode', 'COUNTRY-CODE', 'Country', 'country/region'],
	...['Country ISO', 'country_iso_code', 'ISO Country', 'ISD', 'ISD Code', 'isd_code', 'dialCode'],
	...['Dialing Code', 'dialling code', 'Country Dial Code', 'Calling Code', 'countryCallingCode'],
	...[
		'Phone Country Code',
		'phoneCallingCode',
		'phone_country',
		'Mobile Country Code',
		'Phone Code',
	],
	...['Phone Number Country Code', 'MailingCountry', 'Country Code (Phone)', 'Country *'],
])('the heading %j is that of a country', (heading) => {
	expect(beside({ [heading]: '+1' })).toBe(`The column "${heading}" says "+1"`);
	expect(beside({ [heading]: '+91' })).toBeUndefined();
});

test.each([
	...['Nationality', 'Preferred Country', 'Country of Birth', 'Destination Country', 'code'],
	...['Area Code', 'STD Code', 'PIN Code', 'Coupon Code', 'Prefix', 'cf-ipcountry', 'countries'],
])('the heading %j is not that of the country of the number', (heading) => {
	expect(beside({ [heading]: '+1' })).toBeUndefined();
});

test.each<unknown>([
	...['+1', '1', 1, '001', ' +1 ', '1.0', '(+1)', '+1-868', '+1868', '١', '+1 (US)', 'USA (+1)'],
	...['US', 'us', 'USA', 'U.S.A.', 'United States', 'united states of america', 'Canada', 'CAN'],
	...['+65', '65', '0065', 65, 'SG', 'SGP', 'Singapore', '971', '+971', 'UAE', 'ARE', 'GBR', 'UK'],
])('%p says another country than India', (cell) => {
	expect(beside({ country: cell })).toBe(`The column "country" says "${String(cell).trim()}"`);
});

test.each<unknown>([
	...['91', 91, '+91', '0091', '091', '91.0', 'IN', 'in', 'IND', 'India', 'INDIA', 'Bharat'],
	...['+91 (India)', 'India (+91)', 'IN +91', '+91-'],
	// Nothing, and nothing that is certainly a country.
	...['', ' ', '-', undefined, null, {}, ['+1'], true, 'South', 'N/A', 'NULL', 'Others', 'Yes'],
	...['999', '+999', '0', 12, '101', '1234', '6502530000', '1 India', 'Area 51', 'US/IN', 'Asia'],
])('%p says no other country than India', (cell) => {
	expect(beside({ country: cell })).toBeUndefined();
});

test.each<[country: string, said: string, isOther: boolean]>([
	['US', 'Canada', false],
	['GB', 'Jersey', false],
	['GB', '+44', false],
	['GB', 'India', true],
	['SG', '91', true],
	['AQ', '+1', true],
	['IN', 'Antarctica', false],
])('for %s, %s is another country: %p', (country, said, isOther) => {
	expect(beside({ country: said }, '6502530000', country) !== undefined).toBe(isOther);
});

test.each<[unknown, boolean]>([
	['+91 98765 43210', false],
	['0091 98765 43210', false],
	// Without +, it may be a number of another country that begins like that.
	['91 98765 43210', true],
	[919876543210, true],
	['9876543210', true],
])('beside another country, %p is uncertain: %p', (number, isUncertain) => {
	expect(beside({ country: 'USA' }, number) !== undefined).toBe(isUncertain);
});

test('a calling code counts more than the name of a country, in which the person may only live', () => {
	expect(beside({ Country: 'USA', country_code: '+91' })).toBeUndefined();
	expect(beside({ Country: 'India', country_code: '+1' })).toContain('"country_code" says "+1"');
	expect(beside({ Country: 'India', 'Mailing Country': 'USA' })).toContain('"Mailing Country"');
});

test('in an object, columns count beside the number that it has', () => {
	const contact = { phone: '6502530000', country: 'USA' };
	const row = { body: contact, agent: { country: 'US' } };
	expect(otherCountryBeside(row, '6502530000', 'IN')).toBe('The column "country" says "USA"');
	expect(otherCountryBeside(row, '9876543210', 'IN')).toBeUndefined();
});
