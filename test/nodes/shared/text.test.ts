import fc from 'fast-check';
import {
	firstCharacters,
	normalized,
	withLatinDigits,
	withoutEnd,
} from '../../../nodes/shared/text';

const anyText = fc.string({ unit: 'binary' });

test('removes the same characters at the end as a regular expression', () => {
	const text = fc.string({ unit: fc.constantFrom('a', ' ', '.', '…') });
	fc.assert(
		fc.property(text, (some) => {
			expect(withoutEnd(some, /[\s.…]/)).toBe(some.replace(/[\s.…]+$/, ''));
		}),
	);
});

describe('in a Unicode normalization form', () => {
	test('normalizes text like String.normalize', () => {
		fc.assert(
			fc.property(anyText, (text) => {
				expect(normalized(text)).toBe(text.normalize('NFKC'));
			}),
		);
	});

	test('a letter keeps 30 marks', () => {
		expect(normalized(`x${'\u0323'.repeat(40)} x`)).toBe(`x${'\u0323'.repeat(30)} x`);
	});

	test('normalization never moves other characters before a mark', () => {
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

test('reads the digits of every script as its own number format writes them', () => {
	const written = (system: string) =>
		new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false }).format(9_876_543_210);
	const systems = Intl.supportedValuesOf('numberingSystem').filter((system) =>
		/^\p{Nd}+$/u.test(written(system)),
	);
	expect(systems.length).toBeGreaterThan(60);
	expect(systems.filter((system) => withLatinDigits(written(system)) !== '9876543210')).toEqual([]);
	expect(withLatinDigits('a ½ ² ⑨ ३٫५٬۰')).toBe('a ½ ² ⑨ 3.5,0');
});

test.each([
	['', 2, ''],
	['abc', 2, 'ab'],
	['ab', 2, 'ab'],
	['👩a👩', 2, '👩a'],
	['\ud800\ud800\ud800', 2, '\ud800\ud800'],
])('returns the start of %j, with %i characters', (text, max, expected) => {
	expect(firstCharacters(text, max)).toBe(expected);
});
