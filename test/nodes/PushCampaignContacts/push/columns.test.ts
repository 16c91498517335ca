import {
	resolveColumns,
	type ColumnChoice,
} from '../../../../nodes/PushCampaignContacts/push/columns';
import {
	ItemRows,
	ROWS_PER_YIELD,
	type ContactItem,
	type FoundColumns,
} from '../../../../nodes/PushCampaignContacts/push/rows';
import {
	hasCell,
	type Column,
	type ContactRow,
} from '../../../../nodes/PushCampaignContacts/push/cells';
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
});
const resolve = (
	columns: string[],
	choice: Partial<ColumnChoice> = {},
	items: ContactItem[] = [],
) => resolveColumns(foundIn(columns, items), { ...defaults, ...choice });
/** The choice of a phone column by an expression. */
const computed = (phone: string) => ({ phone, expressions: new Set(['Phone Column']) });
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

const nested = { properties: { phone: '9876543210', 'Full Name': 'Asha' }, list: [{ n: 1 }] };

test.each<[string, ContactRow, Partial<ColumnChoice>, Column]>([
	['exactly', { phone: 1, Phone: 1, Mobile: 1 }, {}, { name: 'phone' }],
	['in another case', { Name: 1, Phone: 1 }, {}, { name: 'Phone' }],
	['with spaces and a mark', { '\ufeff PHONE ': 1 }, {}, { name: '\ufeff PHONE ' }],
	['before any synonym', { Mobile: 1, PHONE: 1 }, {}, { name: 'PHONE' }],
	['by a synonym', { 'Mobile Number': 1 }, {}, { name: 'Mobile Number' }],
	['by a synonym in another case', { mobile_no: 1 }, {}, { name: 'mobile_no' }],
	['as entered, in another case', { WhatsApp: 1 }, { phone: 'whatsapp' }, { name: 'WhatsApp' }],
	['as an expression returns it', { Mobile: 1 }, computed('Mobile'), { name: 'Mobile' }],
	['in brackets', { 'Mobile No.': 1 }, { phone: "['Mobile No.']" }, { name: 'Mobile No.' }],
	...[
		['properties.phone', 'properties', 'phone'],
		["properties['Full Name']", 'properties', 'Full Name'],
		['properties["Full Name"]', 'properties', 'Full Name'],
		['list[0].n', 'list', '0', 'n'],
	].map(([name = '', ...path]): [string, ContactRow, Partial<ColumnChoice>, Column] => [
		`nested: ${name}`,
		nested,
		{ phone: name },
		{ name, path },
	]),
	[
		'with a dot in its name, before a nested one',
		{ 'properties.phone': 1, ...nested },
		{ phone: 'properties.phone' },
		{ name: 'properties.phone' },
	],
	[
		'nested, before one with a similar name',
		{ 'Properties Phone': 1, ...nested },
		{ phone: 'properties.phone' },
		{ name: 'properties.phone', path: ['properties', 'phone'] },
	],
])('finds the phone column %s', (_how, row, choice, column) => {
	expect(resolveRow(row, choice).phone).toEqual(column);
});

test.each<[string, string[], Partial<ColumnChoice>, string | undefined, string | undefined]>([
	['the default', ['person_name'], {}, 'person_name', undefined],
	['another case', ['Person Name'], {}, 'Person Name', undefined],
	['a synonym', ['Full Name'], {}, 'Full Name', undefined],
	['no column', [], {}, undefined, undefined],
	['an empty field', ['person_name'], { personName: ' ' }, undefined, undefined],
	['an entered column', ['Lead'], { personName: 'lead' }, 'Lead', undefined],
	['first names', ['First Name', 'Surname'], { lastName: 'surname' }, 'First Name', 'Surname'],
	['only last names', ['Surname'], { personName: '', lastName: 'Surname' }, undefined, 'Surname'],
])('finds the name columns: %s', (_how, columns, choice, personName, lastName) => {
	const found = resolve(['phone', ...columns], choice);
	expect([found.personName?.name, found.lastName?.name]).toEqual([personName, lastName]);
	// A full name isn't sent as a variable, too. First and last names are.
	expect(columns.filter((name) => found.reserved.has(name))).toEqual(
		personName === undefined || lastName !== undefined
			? columns.filter((name) => name === 'person_name')
			: [personName],
	);
});

const NO_VALUE =
	'needs the name of the column with phone numbers, not a value of it. Switch the field to Fixed';
test.each<[string, string[], Partial<ColumnChoice>, message: string, resolution: string]>([
	[
		'no phone',
		['city', 'plan'],
		{},
		'The input has no column "phone", so nothing was sent',
		'In \'Phone Column\', enter the name of the column with phone numbers. The input has: "city", "plan".',
	],
	[
		'no phone among many',
		Array.from({ length: 25 }, (_, i) => `c${i}`),
		{},
		'The input has no column "phone"',
		'"c19" and 5 more.',
	],
	[
		'a synonym of an entered name',
		['Mobile'],
		{ phone: 'whatsapp' },
		'The input has no column "whatsapp", so nothing was sent',
		"In 'Phone Column', enter",
	],
	[
		'no nested phone',
		['properties'],
		{ phone: 'properties.mobile' },
		'The input has no column "properties.mobile", so nothing was sent',
		"In 'Phone Column', enter",
	],
	[
		'a phone as a value',
		['phone', 'city'],
		computed('phone 9876543210'),
		'\'Phone Column\' has an expression that returns "phone 9876543210", and the input has no such column. Nothing was sent',
		NO_VALUE,
	],
	[
		'no entered name',
		['phone'],
		{ personName: 'lead' },
		'The input has no column "lead", so nothing was sent',
		"In 'Person Name Column', enter the name of the column with names.",
	],
	[
		'no first name',
		['phone', 'Surname'],
		{ lastName: 'Surname' },
		'The input has no column "person_name"',
		"In 'Person Name Column', enter the name of the column with first names.",
	],
	[
		'no last name',
		['phone', 'First Name'],
		{ lastName: 'Surname' },
		'The input has no column "Surname"',
		"In 'Last Name Column', enter the name of the column with last names.",
	],
	[
		'no listed column',
		['phone'],
		{ others: ['city'] },
		'The input has no column "city"',
		"In 'Columns to Send', enter the name of the column with values to send.",
	],
	[
		'two listed columns',
		['phone', 'City', 'CITY'],
		{ others: ['city'] },
		'Several columns match "city": "City", "CITY". Nothing was sent',
		"In 'Columns to Send', enter the exact name",
	],
])('stops if there is %s', (_what, columns, choice, message, resolution) => {
	const error = invalid(columns, choice, [{ json: {} }, { json: nested }]);
	expect(error.message).toContain(message);
	expect(error.resolution).toContain(resolution);
});

describe('the other columns', () => {
	test('are found in any case, and sent under their last name, or under their path if it is used', () => {
		const row = { City: 'Pune', a: { City: 'Delhi', plan: 'x', phone: '1' }, phone: '2' };
		const others = ['city', 'a.City', 'a.plan', 'a.phone'];
		expect(resolveRow(row, { others }).others).toMatchObject([
			{ name: 'City', column: { name: 'City' } },
			{ name: 'a.City', column: { path: ['a', 'City'] } },
			{ name: 'plan', column: { path: ['a', 'plan'] } },
			{ name: 'a.phone', column: { path: ['a', 'phone'] } },
		]);
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

	const TABLE = ['id', 'createdAt', 'updatedAt'];
	const AGENT = ['toolCallId', 'chatInput', 'sessionId', 'action'];
	test.each<[string, string[], Partial<ColumnChoice>, string[]]>([
		['Google Sheets', [], {}, ['row_number']],
		['a data table', [...TABLE, 'city'], {}, ['row_number', ...TABLE]],
		// Only a data table has all three, so an ID of another source is sent.
		['another table', ['id', 'createdAt'], {}, ['row_number']],
		['the AI Agent node', [], { isTool: true }, ['row_number', ...AGENT]],
		['JSON of a tool', [], { isTool: true, from: 'json' }, ['row_number']],
	])('those that n8n adds are sent only if listed: %s', (_source, columns, choice, added) => {
		const { notOfAll, reserved } = resolve(['phone', ...columns], choice);
		expect([...notOfAll].filter((name) => !reserved.has(name))).toEqual(added);
		expect([...reserved].filter((name) => !notOfAll.has(name))).toEqual([]);
	});
});

describe('input that is not rows', () => {
	const causeFor = async (item: ContactItem) =>
		(await new ItemRows([item], noYield).columns()).likelyCause?.();

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
