import { cellOf, columnNames, columnOf } from '../../../../nodes/PushCampaignContacts/push/cells';

const ROW = {
	phone: '1',
	'a[': '2',
	'first name': '3',
	properties: { phone: '4', 'home phone': '5', 'a.b': '6' },
	phones: ['7', { number: '8' }],
};

test.each([
	['phone', '1'],
	['a[', '2'],
	['first name', '3'],
	['["first name"]', '3'],
	['properties.phone', '4'],
	["properties['home phone']", '5'],
	['properties["a.b"]', '6'],
	['phones[0]', '7'],
	['phones[1].number', '8'],
	['phones[12]', undefined],
	['properties.toString', undefined],
	['toString', undefined],
	['', undefined],
])('the cell at %s', (text, cell) => {
	expect(cellOf(ROW, columnOf(text))).toBe(cell);
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
