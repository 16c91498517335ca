import fc from 'fast-check';
import { firstCharacters, normalized, withoutEnd } from '../../../nodes/shared/text';

const anyText = fc.string({ unit: 'binary' });

test.each([
	['https://h.example//', 'https://h.example'],
	['a/b', 'a/b'],
	['///', ''],
	['', ''],
])('%j without the slashes at its end', (text, expected) => {
	expect(withoutEnd(text, /\//)).toBe(expected);
});

test('what goes from the end is what a pattern would take from there', () => {
	const text = fc.string({ unit: fc.constantFrom('a', ' ', '.', '…') });
	fc.assert(
		fc.property(text, (some) => {
			expect(withoutEnd(some, /[\s.…]/)).toBe(some.replace(/[\s.…]+$/, ''));
		}),
	);
});

describe('in a Unicode normalization form', () => {
	test.each(['NFC', 'NFD', 'NFKC'] as const)(
		'a text as people write it is what %s makes of it',
		(form) => {
			fc.assert(
				fc.property(anyText, (text) => {
					expect(normalized(text, form)).toBe(text.normalize(form));
				}),
			);
		},
	);

	test('a letter keeps 30 marks', () => {
		expect(normalized(`n${'\u0323'.repeat(40)} x`, 'NFD')).toBe(`n${'\u0323'.repeat(30)} x`);
	});

	test('no other character is put into order with the marks before it', () => {
		const moved: string[] = [];
		for (let point = 0; point <= 0x10ffff; point++) {
			const character = String.fromCodePoint(point);
			const parts = character.normalize('NFKD');
			if (parts === character || /[\p{M}\uff9e\uff9f]/u.test(character)) continue;
			if (`\u0301${character}`.normalize('NFKD') !== `\u0301${parts}`) moved.push(character);
		}
		expect(moved).toEqual([]);
	});
});

test.each([
	['', 2, ''],
	['abc', 2, 'ab'],
	['ab', 2, 'ab'],
	['👩a👩', 2, '👩a'],
	['\ud800\ud800\ud800', 2, '\ud800\ud800'],
])('of %j the first %i characters', (text, most, expected) => {
	expect(firstCharacters(text, most)).toBe(expected);
});
