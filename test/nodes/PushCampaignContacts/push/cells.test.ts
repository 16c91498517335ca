import {
	cellOf,
	columnNames,
	type Column,
} from '../../../../nodes/PushCampaignContacts/push/cells';

const ROW = { phone: '1', properties: { 'a.b': '2' }, phones: ['3', { number: '4' }] };

test.each<[Column, unknown]>([
	[{ name: 'phone' }, '1'],
	[{ name: 'toString' }, undefined],
	[{ name: 'x', path: ['properties', 'a.b'] }, '2'],
	[{ name: 'x', path: ['phones', '1', 'number'] }, '4'],
	[{ name: 'x', path: ['phones', '12'] }, undefined],
	[{ name: 'x', path: ['properties', 'toString'] }, undefined],
])('the cell of %j', (column, cell) => {
	expect(cellOf(ROW, column)).toBe(cell);
});

test.each([
	['a, b ,', ['a', 'b']],
	['a["b, c"], d', ['a["b, c"]', 'd']],
	['a["b, c, d', ['a["b', 'c', 'd']],
	[`a["b'], c"], ['d, "]']`, [`a["b'], c"]`, `['d, "]']`]],
	['["], a[""], b', ['["], a[""]', 'b']],
	['a[, b], c', ['a[', 'b]', 'c']],
	[' , ', []],
	['', []],
])('the columns of the list %j', (text, names) => {
	expect(columnNames(text)).toEqual(names);
});
