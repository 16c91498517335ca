import fc from 'fast-check';
import { placeValues, type PlacedValue } from '../../../../nodes/core/profile/placeValues';
import { valueAt } from '../../../../nodes/core/values/json';

const body = (name: string, value = 'x'): PlacedValue => ({ placement: 'body', name, value });
const query = (name: string, value = 'x'): PlacedValue => ({ placement: 'query', name, value });

test.each<[string, PlacedValue[], object]>([
	['a plain name', [body('phone')], { phone: 'x' }],
	['a name with dots', [body('entry.phone.digits')], { entry: { phone: { digits: 'x' } } }],
	[
		'two names in one object',
		[body('entry.phone', '1'), body('who', '2'), body('entry.reason', '3')],
		{ entry: { phone: '1', reason: '3' }, who: '2' },
	],
	['a place in a list', [body('phones.0')], { phones: ['x'] }],
	[
		'places in objects of a list',
		[body('entries.0.phone', '1'), body('entries.0.why', '2'), body('entries.1.phone', '3')],
		{ entries: [{ phone: '1', why: '2' }, { phone: '3' }] },
	],
	['brackets', [body('filter[phone]')], { 'filter[phone]': 'x' }],
	['a dot that belongs to the name', [body('entry\\.phone')], { 'entry.phone': 'x' }],
	['a number on top', [body('0')], { 0: 'x' }],
])('in the body: %s', (_name, values, expected) => {
	expect(placeValues(values)).toEqual({ body: expected });
});

test.each<[string, PlacedValue[], object]>([
	['as it is written, dots and all', [query('entry.phone')], { 'entry.phone': 'x' }],
	['brackets', [query('filter[agent]')], { 'filter[agent]': 'x' }],
	['a name used twice is sent twice', [query('q', '1'), query('q', '2')], { q: ['1', '2'] }],
	['and three times', [query('q', '1'), query('q', '2'), query('q', '3')], { q: ['1', '2', '3'] }],
])('in the query: %s', (_name, values, expected) => {
	expect(placeValues(values)).toEqual({ query: expected });
});

test.each([
	['phone', 'phone'],
	['entry', 'entry.phone'],
	['entry.phone', 'entry'],
	['phones.0', 'phones.0'],
	['phones.0', 'phones.digits'],
	['phones.digits', 'phones.0'],
])('%s and %s cannot both be in the body, and neither is dropped', (one, other) => {
	expect(() => placeValues([body(one), body(other)])).toThrow(
		`Two values of this request have the same field name in the credential (got "${other}")`,
	);
});

test('a name that JavaScript reserves is a normal name', () => {
	const placed = placeValues([
		body('__proto__.constructor'),
		query('constructor'),
		query('toString'),
	]);
	expect(JSON.stringify(placed)).toBe(
		'{"query":{"constructor":"x","toString":"x"},"body":{"__proto__":{"constructor":"x"}}}',
	);
	expect({}).not.toHaveProperty('x');
});

test('each value is at the path of its name', () => {
	const part = fc.stringMatching(/^[a-z_]{1,3}$/);
	const names = fc.uniqueArray(
		fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.')),
		{ minLength: 1, maxLength: 5 },
	);
	fc.assert(
		fc.property(names, (given) => {
			const overlap = given.some((one) => given.some((other) => other.startsWith(`${one}.`)));
			fc.pre(!overlap);
			const placed = placeValues(given.map((name, index) => body(name, String(index))));
			for (const [index, name] of given.entries()) {
				expect(valueAt(placed.body ?? {}, name)).toBe(String(index));
			}
		}),
	);
});

test('a name with too many parts is rejected', () => {
	expect(() => placeValues([body('a.'.repeat(100_000))])).toThrow(
		'A field name in the API mapping of the credential has more than 500 parts',
	);
	const name = `${'a.'.repeat(499)}a`;
	expect(valueAt(placeValues([body(name)]).body ?? {}, name)).toBe('x');
});
