import has from 'lodash/has';
import {
	resolveColumns,
	type ColumnChoice,
} from '../../../../nodes/PushCampaignContacts/push/columns';
import { ItemRows } from '../../../../nodes/PushCampaignContacts/push/rows';
import type { Cell, Column, ContactRow } from '../../../../nodes/PushCampaignContacts/push/cells';
import { defaultChoice as defaults } from './scripted';

const nested = { properties: { phone: '9876543210', 'Full Name': 'Asha' }, list: [{ n: 1 }] };

/** The columns of the input, which may have nested ones. */
function resolve(names: string[], choice: Partial<ColumnChoice> = {}, row: ContactRow = nested) {
	const hasPath = (path: readonly string[]) => has(row, path);
	const found = {
		names: new Set(names),
		repeated: new Set<string>(),
		hasPath,
		isEmpty: () => false,
		first: [],
	};
	return resolveColumns(found, { ...defaults, ...choice });
}
function thrownBy(run: () => unknown): unknown {
	try {
		return run();
	} catch (error) {
		return error;
	}
}

describe('of several usual columns for phones', () => {
	const FULL = '9876543210';
	const chosen = (row: Record<string, string>) => {
		const first = [{ json: row, cells: Object.values(row) }];
		const found = { names: new Set(Object.keys(row)), repeated: new Set<string>(), first };
		const isEmpty = (name: string) => row[name] === '';
		return resolveColumns({ ...found, hasPath: () => false, isEmpty }, defaults).phone.name;
	};

	test.each<[Record<string, string>, string]>([
		[{ phone: '', Mobile: FULL }, 'Mobile'],
		[{ Phone: 'landline', 'WhatsApp No': FULL }, 'Phone'],
		[{ Phone: '', 'WhatsApp No': FULL }, 'WhatsApp No'],
		[{ Mobile: '', 'Phone Number': FULL }, 'Phone Number'],
		[{ Mobile: FULL, 'WhatsApp No': FULL }, 'Mobile'],
		[{ phone: FULL, Mobile: FULL }, 'phone'],
		[{ phone: '', Mobile: '' }, 'phone'],
	])('of %j, takes the first one with values: %p', (row, name) => {
		expect(chosen(row)).toBe(name);
	});

	test('asks if two of them have values, and neither is called phone', () => {
		expect(thrownBy(() => chosen({ Mobile: FULL, 'Phone Number': FULL }))).toMatchObject({
			message: 'Several columns match "phone": "Mobile", "Phone Number". Nothing was sent',
		});
	});
});

test('finds the columns of all rows, in order of appearance', async () => {
	const items = Array.from({ length: 3 }, (_, i) => ({
		json: { a: 1, [`b${i % 2}`]: { c: 2 } },
	}));
	const [found] = await new ItemRows(items).columns();
	expect([...(found?.names ?? [])]).toEqual(['a', 'b0', 'b1']);
	expect([found?.hasPath(['b1', 'c']), found?.hasPath(['b1', 'd'])]).toEqual([true, false]);
});

const path = (name: string, ...steps: string[]): Column => ({ name, path: steps });
test.each<[string, ContactRow, Partial<ColumnChoice>, Column]>([
	['exactly', { phone: 1, Phone: 1, Mobile: 1 }, {}, { name: 'phone' }],
	['in another case', { Name: 1, Phone: 1 }, {}, { name: 'Phone' }],
	['with spaces and a mark', { '\ufeff PHONE ': 1 }, {}, { name: '\ufeff PHONE ' }],
	['before any synonym', { Mobile: 1, PHONE: 1 }, {}, { name: 'PHONE' }],
	['by a synonym', { 'Mobile Number': 1 }, {}, { name: 'Mobile Number' }],
	['by a synonym in another case', { mobile_no: 1 }, {}, { name: 'mobile_no' }],
	['by a usual heading', { Name: 1, 'WhatsApp No': 1 }, {}, { name: 'WhatsApp No' }],
	['by a usual heading that is marked', { 'Cell *': 1 }, {}, { name: 'Cell *' }],
	['by a synonym before other usual headings', { Mobile: 1, WhatsApp: 1 }, {}, { name: 'Mobile' }],
	['marked as required', { 'Phone *': 1, 'Phone (Home)': 1 }, {}, { name: 'Phone *' }],
	['by a synonym that is marked', { 'Mobile No.*': 1 }, {}, { name: 'Mobile No.*' }],
	['as entered, in another case', { WhatsApp: 1 }, { phone: 'whatsapp' }, { name: 'WhatsApp' }],
	['in brackets', { 'Mobile No.': 1 }, { phone: "['Mobile No.']" }, { name: 'Mobile No.' }],
	...[
		path('properties.phone', 'properties', 'phone'),
		path("properties['Full Name']", 'properties', 'Full Name'),
		path('list[0].n', 'list', '0', 'n'),
	].map((column): [string, ContactRow, Partial<ColumnChoice>, Column] => [
		`nested: ${column.name}`,
		nested,
		{ phone: column.name },
		column,
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
		path('properties.phone', 'properties', 'phone'),
	],
])('finds the phone column %s', (_how, row, choice, column) => {
	expect(resolve(Object.keys(row), choice, row).phone).toEqual(column);
});

test.each<[string, string[], Partial<ColumnChoice>, string | undefined, string | undefined]>([
	['the default', ['person_name'], {}, 'person_name', undefined],
	['another case', ['Person Name'], {}, 'Person Name', undefined],
	['a synonym', ['Full Name'], {}, 'Full Name', undefined],
	['no column', [], {}, undefined, undefined],
	['an empty field', ['person_name'], { personName: '' }, undefined, undefined],
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

const missing = (name: string) => `The input has no column "${name}", so nothing was sent`;
const PHONES = ['Phone Column', 'phone numbers'] as const;
const FIRST_NAMES = ['Person Name Column', 'first names'] as const;
test.each<[string[], Partial<ColumnChoice>, name: string, field: string, content: string]>([
	[['Mobile'], { phone: 'whatsapp' }, 'whatsapp', ...PHONES],
	[['properties'], { phone: 'properties.mobile' }, 'properties.mobile', ...PHONES],
	[['phone'], { personName: 'lead' }, 'lead', 'Person Name Column', 'names'],
	[['phone', 'Surname'], { lastName: 'Surname' }, 'person_name', ...FIRST_NAMES],
	[['phone', 'First Name'], { lastName: 'Surname' }, 'Surname', 'Last Name Column', 'last names'],
	[['phone'], { others: ['city'] }, 'city', 'Columns to Send', 'values to send'],
	// Other words, symbols, and numbers than those of the entered name.
	[['phone', 'पता'], { personName: 'पिता' }, 'पिता', 'Person Name Column', 'names'],
	[['पति का फोन'], { phone: 'पिता का फोन' }, 'पिता का फोन', ...PHONES],
	[['phone', 'Q11'], { others: ['Q1.1'] }, 'Q1.1', 'Columns to Send', 'values to send'],
	[
		['phone', 'Price ($)'],
		{ others: ['Price (₹)'] },
		'Price (₹)',
		'Columns to Send',
		'values to send',
	],
	[['phone', 'Grade A*'], { others: ['Grade A'] }, 'Grade A', 'Columns to Send', 'values to send'],
	[['Phone?'], {}, 'phone', ...PHONES],
])('the columns %j stop the push with %j', (columns, choice, name, field, content) => {
	expect(thrownBy(() => resolve(columns, choice))).toMatchObject({
		message: missing(name),
		resolution: `In '${field}', enter the name of the column with ${content}, not a value of it. For a list in one item, add a Split Out node before this one. For a file, set 'Contacts From' to 'CSV File'. The input has: "${columns.join('", "')}".`,
	});
});

test.each<[string, string[], Partial<ColumnChoice>, message: string, resolution: string]>([
	[
		'a phone number is missing among many',
		Array.from({ length: 25 }, (_, i) => `c${i}`),
		{},
		missing('phone'),
		'"c19" and 5 more.',
	],
	[
		'the only number is that of the person who was asked',
		['answer', 'asked', 'phone_number'],
		{},
		'The input has no column "phone", so nothing was sent',
		'The input has: "answer", "asked"',
	],
	[
		'two columns match a listed one',
		['phone', 'City', 'CITY'],
		{ others: ['city'] },
		'Several columns match "city": "City", "CITY". Nothing was sent',
		"In 'Columns to Send', enter the exact name of the column as in the input.",
	],
])('stops if %s', (_what, columns, choice, message, resolution) => {
	expect(thrownBy(() => resolve(columns, choice))).toMatchObject({
		message,
		resolution: expect.stringContaining(resolution),
	});
});

describe('the other columns', () => {
	test('are found in any case, and sent under their last name, or under their path if it is used', () => {
		const row = { City: 'Pune', a: { City: 'Delhi', plan: 'x', phone: '1' }, phone: '2' };
		const others = ['city', 'a.City', 'a.plan', 'a.phone'];
		expect(resolve(Object.keys(row), { others }, row).others).toMatchObject([
			{ name: 'City', column: { name: 'City' } },
			{ name: 'a.City', column: { path: ['a', 'City'] } },
			{ name: 'plan', column: { path: ['a', 'plan'] } },
			{ name: 'a.phone', column: { path: ['a', 'phone'] } },
		]);
	});

	test('phone, name, added columns, and columns without a heading are never sent', () => {
		const added = [
			'push_status',
			'phone_sent',
			'phone_to_send',
			'phone_key',
			'campaign_upload_id',
			'push_warnings',
		];
		const rejected = ['rejection_reason', 'rejection_status'];
		const ofFiles = ['source_file', 'source_row'];
		expect([...resolve(['Mobile', 'Name']).reserved].sort()).toEqual(
			['', 'Mobile', 'Name', 'person_name', 'phone', ...added, ...rejected, ...ofFiles].sort(),
		);
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

test('a first row with a phone number is no header', () => {
	expect(thrownBy(() => resolve(['9876543211', 'Bela'], { from: 'csv' }))).toMatchObject({
		resolution:
			'The first row must name the columns, but it seems to be a row with a phone number. Add a row with their names above it. The input has: "9876543211", "Bela".',
	});
});

test('a phone number as the entered name is none, also if a file without a header begins with it', () => {
	const phone = '9876543211';
	expect(thrownBy(() => resolve([phone, 'Bela'], { phone, from: 'csv' }))).toMatchObject({
		message: 'The input has no column "9876543211", so nothing was sent',
	});
});

describe('a missing phone column', () => {
	const firstRows = (...rows: Cell[][]) =>
		rows.map((cells) => ({
			json: Object.fromEntries(cells.map((cell, i) => [`c${i}`, cell])),
			cells,
		}));
	const adviceFor = (from: ColumnChoice['from'], ...rows: Cell[][]) => {
		const first = firstRows(...rows);
		const names = new Set(['c0', 'c1', 'c2']);
		const found = {
			names,
			repeated: new Set<string>(),
			hasPath: () => false,
			isEmpty: () => false,
			first,
		};
		return thrownBy(() => resolveColumns(found, { ...defaults, from }));
	};
	const HAS = 'The input has: "c0", "c1", "c2".';
	const ENTER =
		"In 'Phone Column', enter the name of the column with phone numbers, not a value of it.";

	test.each<[string, ColumnChoice['from'], Cell[][], string]>([
		[
			'the column that has phone numbers',
			'items',
			[
				['Asha', '9876543210', 1],
				['Bela', '', 9876543210],
				['Chand', '+91 98765 43212', 3],
			],
			'In \'Phone Column\', enter "c1", which has phone numbers.',
		],
		[
			'each of two columns that have phone numbers',
			'items',
			[['9876543210', '9876543211', 1]],
			'In \'Phone Column\', enter "c0" or "c1", which have phone numbers.',
		],
		[
			'the columns if none has phone numbers',
			'items',
			[['Asha', 'Pune', 1]],
			`${ENTER} For a list in one item, add a Split Out node before this one. For a file, set 'Contacts From' to 'CSV File'.`,
		],
		[
			'the row that names the columns, and not the type of the file that was chosen',
			'csv',
			[[''], ['Name', 'Mobile No.', ''], ['Asha', 'x', 1]],
			'The first row must name the columns, but a later one seems to do so: "Name", "Mobile No.". Remove the rows before it.',
		],
		[
			'the row that names the columns below a title, which has no delimiter',
			'csv',
			[['Updated today'], ['Name;Mobile No.*']],
			'The first row must name the columns, but a later one seems to do so: "Name", "Mobile No.". Remove the rows before it.',
		],
		[
			'what the file must have',
			'csv',
			[['a', 'b', 'c']],
			`${ENTER} The first row of the file must name the columns.`,
		],
	])('leads to %s', (_what, from, rows, advice) => {
		expect(adviceFor(from, ...rows)).toMatchObject({ resolution: `${advice} ${HAS}` });
	});
});
