import fc from 'fast-check';
import range from 'lodash/range';
import { InvalidInput, OutcomeUnknown, errorText } from '../../../../nodes/core/service/errors';
import {
	firstCharacters,
	normalized,
	withLatinDigits,
	withoutEnd,
} from '../../../../nodes/core/values/text';
import { displayText, named, plainText, quoted } from '../../../../nodes/core/values/values';
import { anyCharacter } from '../../../fuzz/anyCharacter';

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
			fc.property(fc.string({ unit: anyCharacter }), (text) => {
				expect(normalized(text)).toBe(text.normalize('NFKC'));
			}),
		);
	});

	// The last two are the Katakana marks of half width.
	test.each(['\u0323', '\uff9e', '\uff9f'])('a letter keeps 30 marks such as %j', (mark) => {
		const marks = (count: number) => mark.repeat(count).normalize('NFKC');
		expect(normalized(`x${mark.repeat(40)} x`)).toBe(`x${marks(30)} x`);
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

test.each<[unknown, string]>([
	[7, '7'],
	[true, ''],
	[['a'], ''],
])('%j as text is %j', (value, text) => {
	expect(plainText(value)).toBe(text);
});

const PLAIN = 'Aša & Rão: 5 < 7, a <= b\nand “more” 👩🏽‍🚀';

test.each([
	['plain words', PLAIN, PLAIN],
	['the colors of a terminal', '\u001b[31mred\u001b[0m\u0007\u009b1m', '[31mred[0m1m'],
	['another text direction', '\u202egnitirw\u2066', 'gnitirw'],
	['tags', '<img src=x><!-- -->a</a>', '‹img src=x>‹!-- -->a‹/a>'],
	['a tag within a tag', '<<b>img>', '<‹b>img>'],
	['a tag in pieces', '<\u0000a href=x>', '‹a href=x>'],
	['an unpaired surrogate', 'x\ud800', 'x\ufffd'],
	['more than a message can have', 'x'.repeat(10_000), `${'x'.repeat(4_000)}…`],
])('a message can show text from outside with %s', (_what, text, shown) => {
	expect(displayText(text)).toBe(shown);
});

const FIFTY = range(50).map((index) => `n${index}`);

test.each([
	['no names', [], ''],
	['one name', ['a'], 'a'],
	['50 names', FIFTY, FIFTY.join(', ')],
	['52 names', [...FIFTY, 'a', 'b'], `${FIFTY.join(', ')}, and 2 more`],
])('a message lists %s', (_how, names, list) => {
	expect(named(names, String)).toBe(list);
});

test.each<[unknown, string]>([
	['as it is', '"as it is"'],
	['👩'.repeat(60), `"${'👩'.repeat(60)}"`],
	['👩'.repeat(61), `"${'👩'.repeat(60)}…"`],
	[{ a: [1] }, '"{"a":[1]}"'],
	[null, '"null"'],
])('the value %j in a message is shortened', (value, shown) => {
	expect(quoted(value)).toBe(shown);
});

const BROKEN = new OutcomeUnknown('It broke', 'Look.', {
	originalMessage: 'no',
	status: 503,
});

test.each<[unknown, string]>([
	[new InvalidInput('It is empty', 'Enter it.'), 'It is empty. Enter it.'],
	[BROKEN, 'It broke. Look. The service said: no.'],
	[new TypeError('a defect'), 'a defect'],
	['a text', 'a text'],
])('why it was not read: %p', (error, text) => {
	expect(errorText(error)).toBe(text);
});
