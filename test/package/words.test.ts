/** Plain English as in n8n's docs, in forms, messages, the README, and the docs. */
import { globSync } from 'node:fs';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { loader, setupEngine } from '../engine';
import { ROOT } from '../engine/sourceLoader';
import { pages, textOf } from './anchors';
import { texts } from './texts';

/** Patterns to avoid, with replacements. */
const AVOIDED: Array<[RegExp, string]> = [
	[
		/\b(once|one|[\d,]*\d|person|people|items?|entry|calls?|connection|numbers?|rows?|mails?) an? (item|row|run|request|push|(chat )?session)\b/i,
		'… per item',
	],
	[/\bmend(s|ed|ing)?\b/i, 'correct'],
	[/\bworked on\b/i, 'processed'],
	[
		/\b(goe?s?|went|takes?|taken|took|carr(y|ies|ied)|brings?|brought|rides?|sen[dt]s?) (\w+ ){0,3}along\b/i,
		'sent, forwarded',
	],
	[/\bknock(s|ed|ing)?\b/i, 'is sent, arrives'],
	[/\b(stands?|stood) (in|on|above|below|among|beside|there)\b/i, 'is in'],
	[/\b(is|are) told\b/i, 'is reported'],
	[/\bturn(s|ed)? down\b/i, 'rejected'],
	[/\bwhat bec(o|a)mes? of\b/i, 'what to do with, the result of'],
	[/\bOpen Details\b/, 'API mapping'],
	// A country's name has its own apostrophe.
	[/(?<!Côte d)[“”‘’—](?=.)/, 'a straight quote, or a new sentence'],
	[/\bcomes? out\b/i, 'is returned'],
	[/\b(asleep|awake|wak(es?|ing)|woke)\b/i, 'waits, resumes'],
	[/\b(feeds?|feeding|fed)\b/i, 'push'],
	[/\brefus(e[sd]?|ing|als?)\b(?<!connection refused)/i, 'reject'],
	[
		/\b(whoever|meanwhile|anew|by itself|put right)\b/i,
		'the person, in between, again, automatically, fixed',
	],
	[/\bso many\b|\bfrom \d+ on\b/i, 'up to N, at least N'],
	[/\bholds? (no|a|an|the|its|more|"|\d)/i, 'has, contains, must be'],
	[/\bit is(n't| not)? (not )?known\b|\bis not known whether\b/i, 'the outcome is unknown'],
	[
		/\b(de)?activat(e|es|ed|ing) (the|a|your|this) workflow\b|\bworkflow is (in)?active\b/i,
		'publish, published',
	],
];

beforeAll(setupEngine);

test.each(pages)('%s', (page) => {
	// Join lines, because a sentence can span several lines.
	expect(found(textOf(page).replace(/\s+/g, ' '))).toEqual([]);
});

test('the forms of the nodes and of the credential', () => {
	const forms = [...loader.types.nodes, loader.getCredential(CREDENTIAL).type];
	const formTexts = forms.flatMap((form) => textsIn(form));
	expect(formTexts.length).toBeGreaterThan(1_000);
	expect(formTexts.flatMap((text) => found(text))).toEqual([]);
});

test.each(globSync('examples/*.json', { cwd: ROOT }).sort())('%s', (file) => {
	expect(found(textOf(file))).toEqual([]);
});

test('the messages of the nodes', () => {
	expect(texts.length).toBeGreaterThan(1_000);
	expect(texts.flatMap(({ text }) => found(text))).toEqual([]);
});

function found(text: string): string[] {
	return AVOIDED.flatMap(([word, instead]) => {
		const match = word.exec(text);
		if (match === null) return [];
		const around = text.slice(Math.max(0, match.index - 30), match.index + match[0].length + 30);
		return [`"${around}": say "${instead}"`];
	});
}

function textsIn(value: unknown): string[] {
	if (typeof value === 'string') return [value];
	if (typeof value !== 'object' || value === null) return [];
	return Object.values(value).flatMap((inner: unknown) => textsIn(inner));
}
