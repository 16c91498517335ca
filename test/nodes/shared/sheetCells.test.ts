import { hasNoValue, isErrorValue, nameIn } from '../../../nodes/shared/sheetCells';

test.each([
	...['#REF!', '#NAME?', '#N/A', '#VALUE!', '#DIV/0!', '#NUM!', '#NULL!', '#ERROR!', '#SPILL!'],
	...[' #ref! ', '########', 'Err:502', '#BEZUG!', '#¿NOMBRE?', '#NV'],
])('%j is an error value', (cell) => {
	expect([isErrorValue(cell), hasNoValue(cell), nameIn(cell)]).toEqual([true, true, '']);
});

test.each([
	'NULL',
	'null',
	' undefined ',
	'Undefined',
	'[object Object]',
	'Invalid Date',
	'NaN',
	'\\N',
	'(null)',
	'<NULL>',
	'[null]',
])('%j is no value', (cell) =>
	expect([isErrorValue(cell), hasNoValue(cell), nameIn(cell)]).toEqual([false, true, '']),
);

test.each([
	...[
		'N/A',
		'n/a',
		'N.A.',
		'NA',
		'None',
		'none',
		'<nil>',
		'nil',
		'NIL',
		'Unknown',
		'N.A',
		'(blank)',
		'0',
	],
	...['Not Available', 'NO NAME'],
	...['-', '--', '—', '.', '?', '***', '( )', '🙂', ' ', ''],
])('%j may be a value, but no name', (cell) => {
	expect([hasNoValue(cell), nameIn(cell)]).toEqual([false, '']);
});

test.each([
	['Asha NULL', 'Asha'],
	['undefined Rao', 'Rao'],
	['undefined undefined', ''],
	['#NAME? Rao', 'Rao'],
	['  Asha   Rao ', 'Asha   Rao'],
	// Names of people, and words in other cells.
	...[
		'Null',
		'Christopher Null',
		'Nan',
		'Na',
		'Nil',
		'Noné',
		'Asha & Ravi',
		'X',
		'42',
		'О',
		'ม',
		'आ',
	].map((name) => [name, name]),
])('the name in %j is %j', (cell, name) => {
	expect(nameIn(cell)).toBe(name);
});

test.each(['#1', '#SALE', '#FF0000', '#42!', '##', 'null and void', 'nan', 'Err', 7, null, true])(
	'%j is a value',
	(cell) => expect(hasNoValue(cell)).toBe(false),
);
