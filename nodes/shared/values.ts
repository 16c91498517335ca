import type { Resolution } from './api/modelAdvice';
import { firstCharacters } from './text';

/** What is wrong with a field, which it names, and what to do about it. */
export type Problem = { what: string; resolution: Resolution };

/** A value fit to be sent, or what keeps it from being sent. */
export type Checked<T> = { value: T } | { problem: Problem };

export function problem(what: string, resolution: Resolution): { problem: Problem } {
	return { problem: { what, resolution } };
}

const QUOTED_CHARACTERS = 60;

/** A value as a message shows it, kept short. */
export function quoted(value: unknown): string {
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	const short = firstCharacters(text, QUOTED_CHARACTERS);
	return short.length < text.length ? `"${short}…"` : `"${text}"`;
}

/** Longer than any sentence of these nodes with what the service said. */
const LONGEST_SHOWN = 4_000;

/** Moves the cursor of a terminal, or turns the order of reading round. */
const UNSEEN = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Half a character. */
const HALF = /\p{Surrogate}/gu;

/** Where n8n, which shows hints and the second sentence of an error as HTML, would see a tag. */
const TAG = /<(?=[a-z/!?])/gi;

/** A text that may hold words of others, as a person can be shown it. */
export function displayText(text: string): string {
	const short = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
	return short.replace(HALF, '\ufffd').replace(UNSEEN, '').replace(TAG, '‹');
}

/** An expression over a blank cell gives one of these; it means that nothing was set. */
export function isUnset(value: unknown): boolean {
	return (
		value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
	);
}

/** Text as it is, numbers as their digits; nothing else is text. */
export function plainText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The same text by itself: one that was cut out of a longer text keeps all of that in memory. */
export function detachedCopy(text: string): string {
	return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** Names in quotation marks, as a sentence lists them. */
export function inWords(names: readonly string[]): string {
	const marked = names.map((name) => `“${name}”`);
	const last = marked.pop() ?? '';
	return marked.length === 0 ? last : `${marked.join(', ')} and ${last}`;
}

/** Things that one message names; the rest is counted. */
export const MAX_NAMED = 50;

/** Things by their names, as a message lists them. */
export function named<T>(things: readonly T[], nameOf: (thing: T) => string): string {
	const names = things.slice(0, MAX_NAMED).map(nameOf);
	const more = things.length - names.length;
	return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
