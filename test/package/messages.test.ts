import { texts } from './texts';

const saying = (pattern: RegExp, where = /./) =>
	texts.filter(({ place, text }) => where.test(place) && pattern.test(text));

test('there is something to read', () => {
	expect(texts.length).toBeGreaterThan(500);
});

test.each([
	['words of a workshop', /\b(mend\w*|knock\w*|worked (on|off))\b/i],
	['words that frighten and help nobody', /\b(errors?|problems?|failures?|oops|unfortunately)\b/i],
	['the option Concurrency, which not every node has', /\bConcurrency\b/],
])('no message uses %s', (_what, pattern) => {
	expect(saying(pattern)).toEqual([]);
});

test('of the dashboard only what the document says is told: the token is in its settings', () => {
	expect(saying(/dashboard/).filter(({ text }) => !/token.*settings/.test(text))).toEqual([]);
});

test('“this item” is said only where there are items', () => {
	const withoutItems = /Trigger\/|credential|onceEmitter|webhookAnswer|agentList/;
	expect(saying(/\bthis item\b/, withoutItems)).toEqual([]);
});
