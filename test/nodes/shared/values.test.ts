import { named, plainText, quoted, displayText } from '../../../nodes/shared/values';

test.each<[unknown, string]>([
	['text ', 'text '],
	[7, '7'],
	[true, ''],
	[null, ''],
	[['a'], ''],
])('%j as text is %j', (value, text) => {
	expect(plainText(value)).toBe(text);
});

describe('text from outside in a message', () => {
	test.each([
		[
			'plain words',
			'Aša & Rão: 5 < 7, a <= b\nand “more” 👩🏽‍🚀',
			'Aša & Rão: 5 < 7, a <= b\nand “more” 👩🏽‍🚀',
		],
		['the colors of a terminal', '\u001b[31mred\u001b[0m\u0007\u009b1m', '[31mred[0m1m'],
		['another text direction', '\u202egnitirw\u2066', 'gnitirw'],
		['tags', '<img src=x><!-- -->a</a>', '‹img src=x>‹!-- -->a‹/a>'],
		['a tag within a tag', '<<b>img>', '<‹b>img>'],
		['a tag in pieces', '<\u0000a href=x>', '‹a href=x>'],
		['an unpaired surrogate', 'x\ud800', 'x\ufffd'],
	])('%s', (_what, text, shown) => {
		expect(displayText(text)).toBe(shown);
	});

	test('is cut if it is longer than a message can be', () => {
		expect(displayText('x'.repeat(10_000))).toBe(`${'x'.repeat(4_000)}…`);
	});
});

describe('a list of names', () => {
	const fifty = Array.from({ length: 50 }, (_, index) => `n${index}`);

	test.each([
		['none', [], ''],
		['one', ['a'], 'a'],
		['two', ['a', 'b'], 'a, b'],
		['50', fifty, fifty.join(', ')],
		['52, of which two are counted', [...fifty, 'a', 'b'], `${fifty.join(', ')} and 2 more`],
	])('%s', (_how, names, list) => {
		expect(named(names, String)).toBe(list);
	});
});

describe('a value in a message', () => {
	test.each<[unknown, string]>([
		['as it is', '"as it is"'],
		['x'.repeat(60), `"${'x'.repeat(60)}"`],
		['x'.repeat(61), `"${'x'.repeat(60)}…"`],
		['👩'.repeat(60), `"${'👩'.repeat(60)}"`],
		['👩'.repeat(61), `"${'👩'.repeat(60)}…"`],
		[{ a: [1] }, '"{"a":[1]}"'],
		[null, '"null"'],
	])('%j is shortened', (value, shown) => {
		expect(quoted(value)).toBe(shown);
	});
});
