import {
	hasNoValue,
	isErrorValue,
	nameIn,
	personNameOf,
} from '../../../../nodes/core/values/sheetCells';

test.each([
	...['#REF!', '#NAME?', '#N/A', '#VALUE!', '#DIV/0!', '#NUM!', '#NULL!', '#ERROR!', '#SPILL!'],
	...[' #ref! ', '########', 'Err:502', '#BEZUG!', '#¿NOMBRE?', '#NV'],
])('%j is an error value', (cell) => {
	expect([isErrorValue(cell), hasNoValue(cell), nameIn(cell)]).toEqual([true, true, '']);
});

test.each([
	...['NULL', 'null', ' undefined ', 'Undefined', '[object Object]', 'Invalid Date', 'NaN'],
	...['\\N', '(null)', '<NULL>', '[null]', 'Loading...'],
	...['Invalid date', 'Invalid DateTime', '-Infinity', 'Infinity', ' NA ', 'na', 'N/A', 'n/a'],
	...['N/a', 'N.A.', 'N.A', 'n.a.', 'n.a'],
	...['{{ $json.name }}', '{{first_name}}', '{{{name}}}', '*|FNAME|*', '*|IF:FNAME|*', '[[name]]'],
	...['%FIRSTNAME%', '%recipient.name%', '%FIRST%%LAST%', '${name}', '[[ नाम ]]'],
])('%j is no value', (cell) => {
	expect([isErrorValue(cell), hasNoValue(cell), nameIn(cell)]).toEqual([false, true, '']);
});

test.each([
	...['None', 'none', 'NONE', '<nil>', 'nil', 'NIL', 'Unknown'],
	...['(blank)', '0', 'Not Available', 'NO NAME'],
	...['-', '--', '—', '.', '?', '***', '( )', '🙂', ' ', ''],
])('%j may be a value, but no name', (cell) => {
	expect([hasNoValue(cell), nameIn(cell)]).toEqual([false, '']);
});

/** Names of people, and words in other cells. */
const NAMES = [
	...['Null', 'Christopher Null', 'Nan', 'Na', 'Nil', 'Noné', 'Asha & Ravi', 'X', '42', 'О', 'ม'],
	...['आ', 'LI NA', 'Na Infinity', "O'Brien", "'Ann' Rao", '$5 Jones', '100% Rao'],
];

test.each([
	['Asha NULL', 'Asha'],
	['undefined Rao', 'Rao'],
	['undefined undefined', ''],
	['#NAME? Rao', 'Rao'],
	['Asha N/A', 'Asha'],
	['{{ first name }} Rao', 'Rao'],
	['Asha *|LNAME|*', 'Asha'],
	["'Ann'", 'Ann'],
	[" ' Ann ' ", 'Ann'],
	["'Asha O'Brien'", "Asha O'Brien"],
	["'NULL'", ''],
	["''", ''],
	['  Asha   Rao ', 'Asha   Rao'],
	...NAMES.map((name) => [name, name]),
])('the name in %j is %j', (cell, name) => {
	expect(nameIn(cell)).toBe(name);
});

test.each([
	'#1',
	'#SALE',
	'#FF0000',
	'#42!',
	'##',
	'null and void',
	'nan',
	'Err',
	'Loading',
	'Na',
	'LI NA',
	'Infinity Homes',
	7,
	null,
	true,
])('%j is a value', (cell) => {
	expect(hasNoValue(cell)).toBe(false);
});

test.each([
	[{ phone: '1', person_name: 'Asha Rao' }, 'Asha Rao'],
	[{ 'Full name': ' Asha Rao ' }, 'Asha Rao'],
	[{ 'Customer-Name': 'Asha', phone: '1' }, 'Asha'],
	[{ caller_name: 'Asha' }, 'Asha'],
	// The first usual column with a name.
	[{ name: '', 'Lead Name': 'Asha' }, 'Asha'],
	[{ name: '#REF!' }, ''],
	[{ name: { first: 'Asha' } }, ''],
	[{ name: 'x'.repeat(40) }, 'x'.repeat(40)],
	[{ name: 'x'.repeat(41) }, ''],
	[{ campaign_name: 'March', filename: 'leads.csv' }, ''],
])('the person of the row %j is %j', (row, name) => {
	expect(personNameOf(row)).toBe(name);
});
