import { InvalidInput } from '../api/errors';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws InvalidInput unless it has the documented form of a session ID (Resources › Chat session) */
export function parseSessionId(text: string): string {
	if (text === '') {
		throw new InvalidInput('The Session ID is empty', 'Fill in the ID of the chat session.');
	}
	if (!UUID.test(text)) {
		throw new InvalidInput(
			`“${text}” is not a session ID`,
			'A session ID has the form 0f8fad5b-d9cb-469f-a165-70867728950e. Take it from session_id of the node that created the session.',
		);
	}
	return text;
}

/** Text as it is, numbers as their digits; nothing else is text. */
export function plainText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Text that people read: kept as it was written, refused when there is nothing in it. */
export function requireText(value: unknown, field: string): string {
	const text = plainText(value);
	if (text.trim() === '') {
		throw new InvalidInput(`${field} is empty`, `Fill in ${field} for this item.`);
	}
	return text;
}

/** Session IDs as a list, or as text with commas, spaces or line breaks between them; each once. */
export function splitSessionIds(value: unknown): string[] {
	const parts: unknown[] = Array.isArray(value) ? value : plainText(value).split(/[\s,;]/);
	const ids = parts.map((part) => plainText(part).trim());
	return [...new Set(ids.filter((id) => id !== ''))].map(parseSessionId);
}
