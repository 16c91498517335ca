import { fingerprint, isSecret, shortFingerprint } from '../../../nodes/shared/hash';

test('a fingerprint tells values apart, also where they read the same in a row', () => {
	expect(fingerprint(['a', 'b'])).toBe(fingerprint(['a', 'b']));
	expect(
		new Set([fingerprint(['a', 'b']), fingerprint(['ab']), fingerprint(['a', 'b', ''])]).size,
	).toBe(3);
});

test.each<[unknown, boolean]>([
	['open-sesame', true],
	['open-sesam', false],
	['', false],
	[undefined, false],
	[['open-sesame'], false],
])('%j is the secret: %p', (given, is) => {
	expect(isSecret(given, 'open-sesame')).toBe(is);
});

test('of an object the order of its fields is not told, of a list that of its values is', () => {
	const of = (value: unknown) => shortFingerprint(value, 12);
	expect(of({ a: 1, b: { c: 2, d: 3 } })).toBe(of({ b: { d: 3, c: 2 }, a: 1 }));
	expect(of(['a', 'b'])).not.toBe(of(['b', 'a']));
	expect(of('a')).toHaveLength(12);
});
