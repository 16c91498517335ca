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
const prepare = async (rows: ContactRow[], own = columns) => {
	const items = rows.map((json) => ({ json }));
	return await prepareRows(new ItemRows(items), [own]);
};

test.each<[string, ContactRow[], kept: number[], duplicates: Record<number, string>]>([
	[
		'the longer name at any position',
		[
			{ phone: '9876543210', person_name: 'Asha' },
			{ phone: '+91 98765 43210', person_name: 'Asha Rao' },
			{ phone: '9123456789', person_name: 'Vikram Singh' },
			{ phone: 9123456789, person_name: 'Vikram' },
			{ phone: '09876543210', person_name: 'A. Rao' },
		],
		[1, 2],
		{ 0: 'Asha Rao (row 2)', 3: 'Vikram Singh (row 3)', 4: 'Asha Rao (row 2)' },
	],
	[
		'the longest of three names',
		['A', 'Asha', 'Asha Rao'].map((person_name) => ({ phone: '9876543210', person_name })),
		[2],
		{ 0: 'Asha Rao (row 3)', 1: 'Asha Rao (row 3)' },
	],
	[
		'the earlier of equally long names, ignoring white space',
		[
			{ phone: '9876543210', person_name: 'Asha' },
			{ phone: '9876543210', person_name: '  Asha   ' },
			{ phone: '9123456789' },
			{ phone: '9123456789', person_name: null },
		],
		[0, 2],
		{ 1: 'Asha (row 1)', 3: 'Row 3' },
	],
	[
		'a name before a word that is none',
		[
			{ phone: '9876543210', person_name: '#NAME?' },
			{ phone: '9876543210', person_name: 'Asha' },
			{ phone: '9123456789', person_name: 'Ravi' },
			{ phone: '9123456789', person_name: 'undefined undefined' },
		],
		[1, 2],
		{ 0: 'Asha (row 2)', 3: 'Ravi (row 3)' },
	],
	[
		'the first, by its number in a sheet of Google Sheets',
		[
			{ row_number: 2, phone: '9876543210', person_name: 'Asha' },
			{ row_number: 3, phone: '9876543210' },
			{ row_number: 5, phone: '9123456789' },
			{ row_number: 6, phone: '9123456789' },
		],
		[0, 2],
		{ 1: 'Asha (the row with row_number 2)', 3: 'The row with row_number 5' },
	],
])('of rows with the same number, keeps %s', async (_which, given, kept, duplicates) => {
	const { rows, phones, notPushed } = await prepare(given);
	expect([...rows]).toEqual(kept);
	expect([...given.keys()].filter((row) => phones.isSet(row))).toEqual(kept);
	expect([...notPushed]).toEqual(
		Object.entries(duplicates).map(([index, which]) => ({
			index: Number(index),
			status: 'duplicate',
			reason: `${which} has the same number and was kept. The node pushes one row per phone number.`,
		})),
	);
});

test('unusable rows are rejected once, with a reason', async () => {
	const { rows, notPushed } = await prepare(
		[
			{ person_name: 'Asha' },
			{ phone: '9.88E+09' },
			{ phone: '9876543210', person_name: { first: 'Asha' } },
			{ phone: '9876543210', person_name: 'Asha', Surname: ['Rao'] },
			{ phone: '9876543210', person_name: 42 },
		],
		{ ...columns, lastName: { name: 'Surname' } },
	);
	expect([...rows]).toEqual([4]);
	expect(Array.from(notPushed, ({ index, status, reason }) => [index, status, reason])).toEqual([
		[0, 'rejected', 'The phone column of this row is empty.'],
		[1, 'rejected', expect.stringMatching(/may have lost its last digits/)],
		[2, 'rejected', expect.stringMatching(/^The name in column "person_name" isn't text/)],
		[3, 'rejected', expect.stringMatching(/^The name in column "Surname" isn't text\./)],
	]);
});

test('cells without a value are counted, if their row and column are sent', async () => {
	const rows = [
		{ phone: '9876543210', person_name: '#NAME?', city: 'NULL' },
		{ phone: '9876543211', person_name: 'Asha undefined', city: 'Pune' },
		{ phone: 'call me', person_name: '#REF!', city: '#REF!' },
		{ phone: '9876543212', person_name: ' - ', row_number: '#N/A' },
	];
	const cells = ['#NAME?', 'NULL', 'Asha undefined', '-'];
	expect((await prepare(rows)).emptied).toEqual({ count: 4, examples: cells.slice(0, 3) });
	const withoutOthers = await prepare(rows, { ...columns, others: 'none' });
	expect(withoutOthers.emptied.count).toBe(3);
});

test('more unusable rows and duplicates than the output can contain stop the push', async () => {
	const phones = ['9876543210', '12', '9876543210'];
	const rows = new ItemRows(phones.map((phone) => ({ json: { phone } })));
	const push = async (maxOutputRows: number) =>
		await prepareRows(Object.assign(rows, { maxOutputRows }), [columns]);
	expect((await push(2)).notPushed.size).toBe(2);
	await expect(push(1)).rejects.toMatchObject({
		message: expect.stringMatching(/^More than 1 rows can't be pushed .* Nothing was sent$/),
		resolution: expect.stringContaining('The first reason: "12" has 2 digits'),
	});
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

	test('has no error value, and no word for no value', () => {
		const given = { city: '#REF!', plan: 'NULL', size: 'N/A', rating: '-', person_name: 'null' };
		const sent = { phone: '9876543210', city: '', plan: '', size: 'N/A', rating: '-' };
		expect(contact(given)).toEqual(sent);
		expect(contact(given, listed('city', 'rating'))).toEqual({
			phone: '9876543210',
			city: '',
			rating: '-',
		});
	});

	test('leaves out what cannot be written as JSON, and a blank name', () => {
		const given = { a: undefined, b: () => 1, person_name: '\u00a0' };
		expect(contact(given)).toEqual({ phone: '9876543210' });
	});

	test('accepts columns with any name, such as __proto__', () => {
		const text = '"__proto__":{"phone":"1"},"constructor":"c","toString":"t"';
		const json: ContactRow = JSON.parse(`{${text}}`);
		const built = contact(json);
		expect(Object.getPrototypeOf(built)).toBe(Object.prototype);
		expect(JSON.stringify(built)).toBe(`{"phone":"9876543210",${text}}`);
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
		[{ first: 7 }, '7'],
		[{ first: '#REF!', last: 'Rao' }, 'Rao'],
		[{ first: 'Asha', last: 'NULL' }, 'Asha'],
		[{ first: '-', last: 'N/A' }, undefined],
		[{}, undefined],
	])('has the full name of %j', (row, name) => {
		const halves = { ...columns, personName: { name: 'first' }, lastName: { name: 'last' } };
		expect(toContact(row, { ...halves, others: 'none' }, '9').person_name).toBe(name);
	});
});
