import { personNameOf } from '../../../nodes/shared/personName';

test.each([
	[{ phone: '1', person_name: 'Asha Rao' }, 'Asha Rao'],
	[{ 'Full name': ' Asha Rao ' }, 'Asha Rao'],
	[{ 'Customer-Name': 'Asha', phone: '1' }, 'Asha'],
	[{ caller_name: 'Asha' }, 'Asha'],
	// The first usual column with a name.
	[{ name: '', 'Lead Name': 'Asha' }, 'Asha'],
	[{ name: '#REF!' }, ''],
	[{ name: 'n/a' }, ''],
	[{ name: { first: 'Asha' } }, ''],
	[{ name: 'x'.repeat(41) }, ''],
	[{ campaign_name: 'March', filename: 'leads.csv' }, ''],
	[{}, ''],
])('of the row %j is %j', (row, name) => {
	expect(personNameOf(row)).toBe(name);
});
