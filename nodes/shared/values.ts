/** What is wrong with a field, which it names, and what to do about it. */
export type Problem = { what: string; resolution: string };

/** A value fit to be sent, or what keeps it from being sent. */
export type Checked<T> = { value: T } | { problem: Problem };

export const problem = (what: string, resolution: string) => ({ problem: { what, resolution } });

const QUOTED_CHARACTERS = 60;

/** A value as a message shows it, kept short. */
export function quoted(value: unknown): string {
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	const characters = [...text];
	return characters.length > QUOTED_CHARACTERS
		? `"${characters.slice(0, QUOTED_CHARACTERS).join('')}…"`
		: `"${text}"`;
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

/** Names in quotation marks, as a sentence lists them. */
export function inWords(names: readonly string[]): string {
	const marked = names.map((name) => `“${name}”`);
	const last = marked.pop() ?? '';
	return marked.length === 0 ? last : `${marked.join(', ')} and ${last}`;
}
