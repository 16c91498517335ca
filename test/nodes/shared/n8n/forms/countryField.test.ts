import { countryField } from '../../../../../nodes/shared/n8n/forms/countryField';

// The editor finds an entry by its name only.
test('a country is found by its code, and by its name without accents', () => {
	const names = countryField.options?.map(({ name }) => name);
	expect(names).toEqual(
		expect.arrayContaining(['India (IN)', 'Åland Islands (AX, Aland Islands)']),
	);
});
