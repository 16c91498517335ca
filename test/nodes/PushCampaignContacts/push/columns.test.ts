import {
	resolveColumns,
	type ColumnChoice,
	type Columns,
} from '../../../../nodes/PushCampaignContacts/push/columns';
import {
	ItemRows,
	ROWS_PER_YIELD,
	type ContactItem,
	type FoundColumns,
} from '../../../../nodes/PushCampaignContacts/push/rows';
import { hasCell, type ContactRow } from '../../../../nodes/PushCampaignContacts/push/cells';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';

const defaults: ColumnChoice = {
	phone: 'phone',
	personName: 'person_name',
	lastName: '',
	others: 'all',
	expressions: new Set(),
	isTool: false,
	from: 'items',
};
const noYield = async () => {};
const foundIn = (columns: string[], items: ContactItem[]): FoundColumns => ({
	names: new Set(columns),
	hasNested: (column) => items.some(({ json = {} }) => hasCell(json, column)),
	likelyCause: () => undefined,
});
const resolve = (
	columns: string[],
	choice: Partial<ColumnChoice> = {},
	items: ContactItem[] = [],
) => resolveColumns(foundIn(columns, items), { ...defaults, ...choice });
/** The columns of one row. */
const resolveRow = (row: ContactRow, choice: Partial<ColumnChoice> = {}) =>
	resolve(Object.keys(row), choice, [{ json: {} }, { json: row }]);

const invalid = (
	columns: string[],
	choice: Partial<ColumnChoice> = {},
	items: ContactItem[] = [],
): InvalidInput => {
	try {
		resolve(columns, choice, items);
	} catch (error) {
		if (error instanceof InvalidInput) return error;
		throw error;
	}
	throw new Error('The columns were accepted');
};

test('finds the columns of all rows, in order of appearance', async () => {
	let breaths = 0;
	const items = Array.from({ length: 2 * ROWS_PER_YIELD + 1 }, (_, i) => ({
		json: { a: 1, [`b${i % 2}`]: 2 },
	}));
	const source = new ItemRows(items, async () => {
		breaths++;
	});
	expect([...(await source.columns()).names]).toEqual(['a', 'b0', 'b1']);
	expect(breaths).toBe(2);
});

describe('the phone column', () => {
	test.each<[string, string[], string]>([
		['exactly the default', ['phone', 'Phone', 'Mobile'], 'phone'],
		['in another case', ['Name', 'Phone'], 'Phone'],
		['with spaces and a byte order mark', ['\ufeff PHONE ', 'x'], '\ufeff PHONE '],
		['before any synonym', ['Mobile', 'PHONE'], 'PHONE'],
		['by a synonym', ['Mobile Number', 'city'], 'Mobile Number'],
		['by a synonym in another writing', ['mobile_no', 'city'], 'mobile_no'],
	])('%s', (_name, columns, phone) => {
		expect(resolve(columns).phone).toEqual({ name: phone });
	});

	test('an entered name is found in another case, but not by synonyms', () => {
		expect(resolve(['WhatsApp', 'Mobile'], { phone: 'whatsapp' }).phone).toEqual({
			name: 'WhatsApp',
		});
		expect(invalid(['Mobile'], { phone: 'whatsapp' }).message).toBe(
			'The input has no column "whatsapp", so nothing was sent',
		);
	});

	test('if it is missing, the error lists the first columns of the input', () => {
		const many = Array.from({ length: 25 }, (_, i) => `c${i}`);
		expect(invalid(['city', 'plan']).resolution).toBe(
			'In \'Phone Column\', enter the name of the column with phone numbers. The input has: "city", "plan".',
		);
		expect(invalid(many).resolution).toMatch(/"c19" and 5 more\.$/);
	});
});

describe('the person name column', () => {
	test.each<[string, string[], string, string | undefined]>([
		['the default', ['phone', 'person_name'], 'person_name', 'person_name'],
		['in another spelling', ['phone', 'Person Name'], 'person_name', 'Person Name'],
		['by a synonym', ['phone', 'Full Name'], 'person_name', 'Full Name'],
		['none, because there is none', ['phone'], 'person_name', undefined],
		['none, because the field is empty', ['phone', 'person_name'], ' ', undefined],
		['one that was entered', ['phone', 'Lead'], 'lead', 'Lead'],
	])('%s', (_name, columns, personName, expected) => {
		expect(resolve(columns, { personName }).personName?.name).toBe(expected);
	});

	test('an entered name must exist', () => {
		expect(invalid(['phone'], { personName: 'lead' })).toMatchObject({
			message: 'The input has no column "lead", so nothing was sent',
			resolution: expect.stringMatching(
				/^In 'Person Name Column', enter the name of the column with names\./,
			),
		});
	});
});

describe('the other columns', () => {
	test('listed columns must exist, in any case', () => {
		expect(resolve(['phone', 'City'], { others: ['city'] }).others).toEqual([
			{ name: 'City', column: { name: 'City' } },
		]);
		expect(invalid(['phone'], { others: ['city'] }).resolution).toMatch(
			/^In 'Columns to Send', enter the name of the column with values to send\./,
		);
	});

	test('a listed column with two matches is not chosen', () => {
		expect(invalid(['phone', 'City', 'CITY'], { others: ['city'] }).resolution).toMatch(
			/^In 'Columns to Send', enter the exact name/,
		);
	});

	test('phone, name, added columns, and columns without a heading are never sent', () => {
		expect([...resolve(['Mobile', 'Name']).reserved].sort()).toEqual([
			'',
			'Mobile',
			'Name',
			'campaign_upload_id',
			'person_name',
			'phone',
			'phone_key',
			'phone_sent',
			'phone_to_send',
			'push_status',
			'rejection_reason',
			'rejection_status',
			'source_file',
			'source_row',
			'source_row_last',
		]);
	});
});

describe('a nested column', () => {
	const phone = { properties: { phone: '9876543210', 'Full Name': 'Asha' }, list: [{ n: 1 }] };

	test.each([
		['properties.phone', ['properties', 'phone']],
		["properties['Full Name']", ['properties', 'Full Name']],
		['properties["Full Name"]', ['properties', 'Full Name']],
		['list[0].n', ['list', '0', 'n']],
	])('%s', (wanted, path) => {
		expect(resolveRow(phone, { phone: wanted }).phone).toEqual({ name: wanted, path });
	});

	test('comes after a column whose name has a dot', () => {
		const row = { 'properties.phone': '1', ...phone };
		expect(resolveRow(row, { phone: 'properties.phone' }).phone).toEqual({
			name: 'properties.phone',
		});
	});

	test('comes before a column with a similar name', () => {
		const row = { 'Properties Phone': '1', ...phone };
		expect(resolveRow(row, { phone: 'properties.phone' }).phone.path).toEqual([
			'properties',
			'phone',
		]);
	});

	test('in brackets only is a plain column', () => {
		expect(resolveRow({ 'Mobile No.': '1' }, { phone: "['Mobile No.']" }).phone).toEqual({
			name: 'Mobile No.',
		});
	});

	test('is missing if no row has it', () => {
		const error = invalid(['properties'], { phone: 'properties.mobile' }, [
			{ json: {} },
			{ json: phone },
		]);
		expect(error.message).toBe('The input has no column "properties.mobile", so nothing was sent');
	});

	test('is sent under its last name, or under its path if the name is used', () => {
		const row = { city: 'Pune', a: { city: 'Delhi', plan: 'x', phone: '1' }, phone: '2' };
		const others = ['city', 'a.city', 'a.plan', 'a.phone'];
		expect(resolveRow(row, { others }).others).toMatchObject([
			{ name: 'city', column: { name: 'city' } },
			{ name: 'a.city', column: { path: ['a', 'city'] } },
			{ name: 'plan', column: { path: ['a', 'plan'] } },
			{ name: 'a.phone', column: { path: ['a', 'phone'] } },
		]);
	});
});

describe('the last name column', () => {
	test('finds the column with first names too', () => {
		const columns = resolve(['phone', 'First Name', 'Surname'], { lastName: 'surname' });
		expect(columns).toMatchObject({
			personName: { name: 'First Name' },
			lastName: { name: 'Surname' },
		});
		expect([columns.reserved.has('First Name'), columns.reserved.has('Surname')]).toEqual([
			false,
			false,
		]);
	});

	test('is the whole name if Person Name Column is empty', () => {
		const columns = resolve(['phone', 'Surname'], { personName: '', lastName: 'Surname' });
		expect(columns).toMatchObject({ personName: undefined, lastName: { name: 'Surname' } });
	});

	test('reports a missing column of first or last names', () => {
		expect(invalid(['phone', 'Surname'], { lastName: 'Surname' }).resolution).toMatch(
			/^In 'Person Name Column', enter the name of the column with first names\./,
		);
		expect(invalid(['phone', 'First Name'], { lastName: 'Surname' }).resolution).toMatch(
			/^In 'Last Name Column', enter the name of the column with last names\./,
		);
	});
});

test('reports an expression that returns no column name', () => {
	const choice = { phone: 'phone 9876543210', expressions: new Set(['Phone Column']) };
	expect(invalid(['phone', 'city'], choice)).toMatchObject({
		message:
			'\'Phone Column\' has an expression that returns "phone 9876543210", and the input has no such column. Nothing was sent',
		resolution: expect.stringMatching(/not a value of it\. Switch the field to Fixed/),
	});
	expect(resolve(['Mobile'], { ...choice, phone: 'Mobile' }).phone).toEqual({ name: 'Mobile' });
});

describe('input that is not rows', () => {
	const causeFor = async (item: ContactItem) =>
		(await new ItemRows([item], noYield).columns()).likelyCause();

	test('reports a list inside an item', async () => {
		const json = { total: 2, data: [{ phone: '1' }, { phone: '2' }] };
		expect(await causeFor({ json })).toMatchObject({
			message: expect.stringMatching(/^The input is one item with a list of 2 rows in "data"\./),
			resolution: 'Add a Split Out node before this one, with "data" in \'Fields To Split Out\'.',
		});
	});

	test.each([[[]], [['a', 'b']], [[[1]]], [[null]]])('not for %j', async (data) => {
		expect(await causeFor({ json: { data } })).toBeUndefined();
	});

	test('reports a file before a list', async () => {
		const item = { json: { fileName: 'leads.csv', list: [{}] }, binary: { data: {} } };
		expect(await causeFor(item)).toMatchObject({
			message: 'The input is a file, not rows, so nothing was sent',
			resolution: expect.stringMatching(/CSV File.*Extract from File/),
		});
	});

	test('is reported instead of a missing phone column', () => {
		const cause = new InvalidInput('the cause', forEveryone('do that'));
		const found = { ...foundIn(['fileName'], []), likelyCause: () => cause };
		expect(() => resolveColumns(found, defaults)).toThrow(cause);
	});

	test('a repeated column of a file is not chosen, but others are', () => {
		const found = { ...foundIn(['phone', 'city'], []), repeated: new Set(['city']) };
		expect(resolveColumns(found, defaults).phone).toEqual({ name: 'phone' });
		expect(() => resolveColumns(found, { ...defaults, others: ['City'] })).toThrow(
			'The header of the file has more than one column "city", so nothing was sent',
		);
	});
});

test('columns of a data table are sent only if listed', () => {
	const table = ['id', 'createdAt', 'updatedAt'];
	const added = (columns: string[], choice: Partial<ColumnChoice> = {}) => {
		const { notOfAll } = resolve(['phone', ...columns], choice);
		return table.filter((name) => notOfAll.has(name));
	};
	expect(added([...table, 'city'])).toEqual(table);
	expect(resolve(['phone', ...table], { others: ['id'] }).others).toEqual([
		{ name: 'id', column: { name: 'id' } },
	]);
	// Only a data table has all three, so an ID of another source is sent.
	expect(added(['id', 'createdAt'])).toEqual([]);
	expect(added(['id', 'city'])).toEqual([]);
});

test('columns of Google Sheets and AI Agent are sent only if listed', () => {
	const added = ({ notOfAll, reserved }: Columns) =>
		[...notOfAll].filter((name) => !reserved.has(name));
	expect(added(resolve(['phone']))).toEqual(['row_number']);
	expect(added(resolve(['phone'], { isTool: true }))).toEqual([
		'row_number',
		'toolCallId',
		'chatInput',
		'sessionId',
		'action',
	]);
	const { notOfAll, reserved } = resolve(['phone']);
	expect([...reserved].filter((name) => !notOfAll.has(name))).toEqual([]);
});

describe('several files', () => {
	const fileWith = (file: string, names: string[]) => ({ ...foundIn(names, []), file });
	const noteOf = (files: Array<[string, string[]]>, over: Partial<ColumnChoice> = {}) => {
		const all = files.map(([file, names]) => fileWith(file, names));
		return resolveColumns({ ...foundIn([], []), files: all }, { ...defaults, ...over }).note;
	};
	const named: [string, string[]] = ['a.csv', ['phone', 'Name']];

	test('reports files without a name column', () => {
		expect(noteOf([named, ['b.csv', ['phone', 'Who']]])).toBe(
			'The file "b.csv" has no column for names, so its contacts have no names. If it has names, rename their column to "person_name".',
		);
		expect(noteOf([['b.csv', ['phone']], named, ['c.csv', ['phone']]])).toBe(
			'The files "b.csv", "c.csv" have no column for names, so their contacts have no names. If they have names, rename their column to "person_name".',
		);
	});

	test.each<[string, Array<[string, string[]]>, Partial<ColumnChoice>]>([
		['each has one', [named, named], {}],
		[
			'none has one',
			[
				['b.csv', ['phone']],
				['c.csv', ['phone']],
			],
			{},
		],
		['no names are wanted', [named, ['b.csv', ['phone']]], { personName: '' }],
	])('no report if %s', (_case, files, over) => {
		expect(noteOf(files, over)).toBeUndefined();
	});
});
