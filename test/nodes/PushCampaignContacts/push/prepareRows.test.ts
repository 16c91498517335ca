import type { Columns } from '../../../../nodes/PushCampaignContacts/push/columns';
import { prepareRows, toContact } from '../../../../nodes/PushCampaignContacts/push/prepareRows';
import type { ContactRow } from '../../../../nodes/PushCampaignContacts/push/cells';
import { ItemRows } from '../../../../nodes/PushCampaignContacts/push/rows';

const columns: Columns = {
	phone: { name: 'phone' },
	personName: { name: 'person_name' },
	lastName: undefined,
	others: 'all',
	reserved: new Set(['phone', 'person_name', 'rejection_reason', 'rejection_status']),
	notOfAll: new Set(['phone', 'person_name', 'rejection_reason', 'rejection_status', 'row_number']),
};
const forPerson = { isTool: false };
const sourceOf = (rows: ContactRow[]) =>
	new ItemRows(
		rows.map((json) => ({ json })),
		async () => {},
	);
const prepare = async (rows: ContactRow[], options = forPerson) =>
	await prepareRows(sourceOf(rows), columns, options);

describe('duplicates', () => {
	test('keeps the row with the longer name at any position', async () => {
		const { rows, rejectedRows } = await prepare([
			{ phone: '9876543210', person_name: 'Asha' },
			{ phone: '+91 98765 43210', person_name: 'Asha Rao' },
			{ phone: '9123456789', person_name: 'Vikram Singh' },
			{ phone: 9123456789, person_name: 'Vikram' },
			{ phone: '09876543210', person_name: 'A. Rao' },
		]);
		expect([...rows]).toEqual([1, 2]);
		expect(Array.from(rejectedRows, ({ index, status }) => [index, status])).toEqual([
			[0, 'duplicate'],
			[3, 'duplicate'],
			[4, 'duplicate'],
		]);
	});

	test('the reason names the kept row, even if a third row replaced it', async () => {
		const { rows, keys, rejectedRows } = await prepare([
			{ phone: '9876543210', person_name: 'A' },
			{ phone: '9876543210', person_name: 'Asha' },
			{ phone: '9876543210', person_name: 'Asha Rao' },
		]);
		expect([...rows]).toEqual([2]);
		expect([0, 1, 2].map((row) => keys.at(row))).toEqual(['', '', '919876543210']);
		expect(Array.from(rejectedRows, ({ reason }) => reason)).toEqual(
			Array(2).fill(
				'Asha Rao (row 3) has the same number and was kept. The node pushes one row per phone number.',
			),
		);
	});

	test('the reason has the number of the kept row if it has no name', async () => {
		const { rejectedRows } = await prepare([{ phone: '9876543210' }, { phone: '98765 43210' }]);
		expect(Array.from(rejectedRows, ({ reason }) => reason)).toEqual([
			'Row 1 has the same number and was kept. The node pushes one row per phone number.',
		]);
	});

	test('keeps the earlier of equally long names, ignoring white space', async () => {
		const { rows } = await prepare([
			{ phone: '9876543210', person_name: 'Asha' },
			{ phone: '9876543210', person_name: '  Asha   ' },
			{ phone: '9123456789' },
			{ phone: '9123456789', person_name: null },
		]);
		expect([...rows]).toEqual([0, 2]);
	});
});

describe('unusable rows', () => {
	test('are rejected once, with a reason', async () => {
		const { rows, rejectedRows } = await prepare([
			{ person_name: 'Asha' },
			{ phone: '9.88E+09' },
			{ phone: '9876543210', person_name: { first: 'Asha' } },
			{ phone: '9876543210', person_name: 42 },
		]);
		expect([...rows]).toEqual([3]);
		expect([...rejectedRows]).toEqual([
			{ index: 0, status: 'rejected', reason: 'This row has no phone number.' },
			{ index: 1, status: 'rejected', reason: expect.stringMatching(/rounded/) },
			{
				index: 2,
				status: 'rejected',
				reason: expect.stringMatching(/^The name in column "person_name" isn't text/),
			},
		]);
	});
});

test('a row whose last name is not text is rejected', async () => {
	const source = sourceOf([{ phone: '9876543210', person_name: 'Asha', Surname: ['Rao'] }]);
	const halves = { ...columns, lastName: { name: 'Surname' } };
	const { rows, rejectedRows } = await prepareRows(source, halves, forPerson);
	expect([...rows]).toEqual([]);
	expect([...rejectedRows][0]?.reason).toMatch(/^The name in column "Surname" isn't text\./);
});

describe('a contact', () => {
	const row = { phone: 'x', person_name: ' Asha ', city: 'Pune', age: 4, tags: ['a'], none: null };
	const contact = (json: ContactRow, others: Columns['others'] = 'all') =>
		toContact(json, { ...columns, others }, '9876543210');

	const listed = (...names: string[]) => names.map((name) => ({ name, column: { name } }));

	test('keeps its phone and name, even if their columns are listed', () => {
		expect(contact(row, listed('phone', 'person_name', 'city'))).toEqual({
			phone: '9876543210',
			person_name: 'Asha',
			city: 'Pune',
		});
	});

	test('has no name if the row has none, and a number as text', () => {
		expect(contact({ person_name: '\u00a0' }, 'none')).toEqual({ phone: '9876543210' });
		expect(contact({ person_name: 7 }, 'none')).toHaveProperty('person_name', '7');
	});

	test('leaves out what cannot be written as JSON', () => {
		expect(contact({ a: undefined, b: () => 1 })).toEqual({ phone: '9876543210' });
	});

	test('accepts columns with any name, such as __proto__', () => {
		const json: ContactRow = JSON.parse(
			'{"__proto__":{"phone":"1"},"constructor":"c","toString":"t"}',
		);
		const built = contact(json);
		expect(Object.getPrototypeOf(built)).toBe(Object.prototype);
		expect(JSON.parse(JSON.stringify(built))).toEqual(
			JSON.parse(
				'{"phone":"9876543210","__proto__":{"phone":"1"},"constructor":"c","toString":"t"}',
			),
		);
	});

	test('ignores inherited properties', () => {
		expect(contact({ phone: 'x' }, listed('toString', '__proto__'))).toEqual({
			phone: '9876543210',
		});
	});

	test.each<[ContactRow, string | undefined]>([
		[{ first: ' Asha ', last: 'Rao' }, 'Asha Rao'],
		[{ first: 'Asha', last: '' }, 'Asha'],
		[{ first: null, last: 'Rao' }, 'Rao'],
		[{}, undefined],
	])('has the full name of %j', (row, name) => {
		const halves = { ...columns, personName: { name: 'first' }, lastName: { name: 'last' } };
		expect(toContact(row, { ...halves, others: 'none' }, '9').person_name).toBe(name);
	});
});
