import { fingerprint, isSecret, shortFingerprint } from '../../../nodes/shared/hash';

test('different values have different fingerprints, even if their joined texts are equal', () => {
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

test("a fingerprint depends on the order of a list, but not on the order of an object's fields", () => {
	const of = (value: unknown) => shortFingerprint(value, 12);
	expect(of({ a: 1, b: { c: 2, d: 3 } })).toBe(of({ b: { d: 3, c: 2 }, a: 1 }));
	expect(of(['a', 'b'])).not.toBe(of(['b', 'a']));
	expect(of('a')).toHaveLength(12);
});
