import { texts } from './texts';

const textsWith = (pattern: RegExp, where = /./) =>
	texts.filter(({ place, text }) => where.test(place) && pattern.test(text));

test('checks more than 500 texts', () => {
	expect(texts.length).toBeGreaterThan(500);
});

test.each([
	['slang', /\b(mend\w*|knock\w*|worked (on|off))\b/i],
	['words that n8n avoids', /\b(errors?|problems?|failures?|oops|unfortunately)\b/i],
	['"Concurrency", because not every node has this option', /\bConcurrency\b/],
])('no message uses %s', (_what, pattern) => {
	expect(textsWith(pattern)).toEqual([]);
});

test('only forms, and texts about a URL, say "below", because a message is one paragraph', () => {
	const inForms = /^credentials|properties|apiMapping\/dnd|ChatSend\/idempotency/;
	const found = textsWith(/\bbelow\b(?! 'Base URL')/).filter(({ place }) => !inForms.test(place));
	expect(found).toEqual([]);
});

test('texts about the dashboard say only that the token is in its settings, as documented', () => {
	expect(textsWith(/dashboard/).filter(({ text }) => !/token.*settings/.test(text))).toEqual([]);
});

test('only nodes with items have texts with "this item"', () => {
	const withoutItems = /Trigger\/|n8n\/triggers\/|credential|agents|locatorFields/;
	expect(textsWith(/\bthis item\b/, withoutItems)).toEqual([]);
});
