import fc from 'fast-check';
import range from 'lodash/range';
import {
	type JsonValue,
	numberIn,
	outlineOf,
	parseJson,
	valueAt,
	valuesIn,
} from '../../../../nodes/core/values/json';

const body: JsonValue = {
	data: { calls: [{ id: 'a' }, { id: 'b' }], 'next.page': 7, none: null },
	meta: { total: '12' },
};

test.each<[string, JsonValue | undefined]>([
	['data.calls.0.id', 'a'],
	['data.calls[1].id', 'b'],
	['data["next.page"]', 7],
	['data.none', null],
	['data.calls.2', undefined],
	['data.calls.id', undefined],
	['data.calls.id0', undefined],
	['data.none.deeper', undefined],
	['constructor.name', undefined],
	['data.__proto__', undefined],
])('the value at %s is %j', (path, expected) => {
	expect(valueAt(body, path)).toEqual(expected);
	expect(valueAt(range(13), '12')).toBe(12);
});

test.each<[JsonValue | undefined, number | undefined]>([
	[0, 0],
	['12', 12],
	[' 3 ', 3],
	['', undefined],
	['many', undefined],
	[null, undefined],
	[true, undefined],
	[undefined, undefined],
])('%p read as a number: %p', (value, expected) => {
	expect(numberIn(value)).toBe(expected);
});

test('finds every value, the outermost first, up to a limit', () => {
	const nested: JsonValue = { a: { b: [1, { c: 2 }] }, d: 3 };
	const values = [nested, nested.a, 3, [1, { c: 2 }], 1, { c: 2 }, 2];
	expect([...valuesIn(nested)]).toEqual(values);
	expect([...valuesIn(nested, 3)]).toEqual(values.slice(0, 3));
	expect([...valuesIn('text')]).toEqual(['text']);
});

test('a text is read with up to 500 lists or objects within each other', () => {
	const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
	const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
	for (const text of [lists(500), objects(500)]) expect(parseJson(text)).toEqual(JSON.parse(text));
	for (const text of [lists(501), objects(501), lists(1_000_000), `[[],${lists(500)}]`])
		expect(parseJson(text)).toBeUndefined();
});

describe('an integer that JavaScript would round', () => {
	/** Or with an exponent. They stay numbers. */
	const WITH_FRACTION = [
		...['0.12345678901234567', '12345678901234567.5', '12345678901234567e2'],
		'1E1234567890123456',
	];

	test.each<[string, JsonValue | undefined]>([
		['1876543210987654321', '1876543210987654321'],
		[' -1876543210987654321\n', '-1876543210987654321'],
		['9007199254740991', 9007199254740991],
		['9007199254740992', '9007199254740992'],
		['{"1876543210987654321":1}', { '1876543210987654321': 1 }],
		...WITH_FRACTION.map((text): [string, number] => [text, Number(text)]),
		// No JSON.
		['{1876543210987654321:1}', undefined],
		['[01876543210987654321]', undefined],
		['[1876543210987654321', undefined],
		['--1876543210987654321', undefined],
	])('%s is read as %j', (text, value) => {
		expect(parseJson(text)).toEqual(value);
	});

	test('is read as the text of its digits, wherever it is and whatever is around it', () => {
		const integer = (min: bigint, max: bigint) =>
			fc.bigInt({ min, max }).map((digits) => `an integer: ${digits}`);
		const { value: anyValue } = fc.letrec((tie) => ({
			value: fc.oneof(
				{ maxDepth: 3 },
				fc.string().map((text) => `${text}1876543210987654321`),
				fc.constantFrom('"', '\\', '\\"', ',1876543210987654321', true, false, null, 1.5, -7),
				integer(2n ** 53n, 2n ** 70n),
				integer(-(2n ** 70n), -(2n ** 53n)),
				fc.array(tie('value'), { maxLength: 4 }),
				fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
			),
		}));
		fc.assert(
			fc.property(anyValue, fc.constantFrom(undefined, 2, '\t'), (value, space) => {
				const text = JSON.stringify(value, null, space);
				const numbers = text.replaceAll(/"an integer: (-?\d+)"/g, '$1');
				expect(parseJson(numbers)).toEqual(JSON.parse(text.replaceAll('an integer: ', '')));
			}),
		);
	});
});

test.each<[JsonValue, string]>([
	[body, 'data (an object), meta (an object), data.calls (a list)'],
	[[1], 'only a list'],
	['text', 'neither a list nor an object'],
	[{ of: { 'a.b': [] } }, 'of (an object), of["a.b"] (a list)'],
])('an outline of %j', (value, expected) => {
	expect(outlineOf(value)).toBe(expected);
});

test('an outline is short for any response', () => {
	const wide = Object.fromEntries(range(5_000).map((nth) => [`key${nth}`, { inner: [] }]));
	expect(outlineOf(wide).split(', ')).toHaveLength(8);
});
