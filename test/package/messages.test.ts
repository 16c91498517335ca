import { texts } from './texts';

const textsWith = (pattern: RegExp, where = /./) =>
	texts.filter(({ place, text }) => where.test(place) && pattern.test(text));

test('checks more than 500 texts', () => {
	expect(texts.length).toBeGreaterThan(500);
});

test.each([
	['words of a workshop', /\b(mend\w*|knock\w*|worked (on|off))\b/i],
	['words that frighten and help nobody', /\b(errors?|problems?|failures?|oops|unfortunately)\b/i],
	['the option Concurrency, which not every node has', /\bConcurrency\b/],
])('no message uses %s', (_what, pattern) => {
	expect(textsWith(pattern)).toEqual([]);
});

test('texts about the dashboard say only that the token is in its settings, as documented', () => {
	expect(textsWith(/dashboard/).filter(({ text }) => !/token.*settings/.test(text))).toEqual([]);
});

test('only nodes with items have texts with "this item"', () => {
	const withoutItems = /Trigger\/|credential|onceEmitter|webhookAnswer|agentList/;
	expect(textsWith(/\bthis item\b/, withoutItems)).toEqual([]);
});
