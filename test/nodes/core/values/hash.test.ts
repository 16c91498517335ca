import { BoundedMap } from '../../../../nodes/core/values/boundedMap';
import { fingerprint, hashOf, isSecret } from '../../../../nodes/core/values/hash';

test("a fingerprint depends on each value and the order of a list, but not on the order of an object's fields", () => {
	const of = (value: unknown) => [fingerprint(value), hashOf(value)];
	const values = [['a', 'b'], ['b', 'a'], ['ab'], ['a', 'b', ''], { a: 1, b: { c: 2, d: 3 } }];
	expect(new Set(values.flatMap(of)).size).toBe(10);
	expect(of({ b: { d: 3, c: 2 }, a: 1 })).toEqual(of({ a: 1, b: { c: 2, d: 3 } }));
	expect(of('a')[1]).toHaveLength(12);
});

test.each<[unknown, boolean]>([
	['open-sesame', true],
	[['open-sesame'], false],
])('%j is the secret: %p', (given, is) => {
	expect(isSecret(given, 'open-sesame')).toBe(is);
});

test('a map of three entries keeps the newest, also after others were replaced or removed', () => {
	const [changes, kept] = ['abcdb-caedf', 'edf'];
	const map = new BoundedMap<number>(3);
	for (const [index, id] of [...changes].entries()) {
		if (changes[index - 1] === '-') map.delete(id);
		else if (id !== '-') map.set(id, index);
	}
	const ids = [...'abcdef'].filter((id) => map.has(id)).sort();
	expect(ids).toEqual([...kept].sort());
	for (const id of ids) expect(map.get(id)).toBe(changes.lastIndexOf(id));
});
