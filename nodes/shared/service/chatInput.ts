import { createHash } from 'crypto';
import { InvalidInput } from './explained';
import { AGENT_UUID } from './limits';

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

/** @throws InvalidInput unless it has the documented form (General conventions › Agent identifier) */
export function parseAgentUuid(text: string): string {
	if (text === '') {
		throw new InvalidInput('No agent is chosen', 'Choose the agent from the list in Agent.');
	}
	if (!AGENT_UUID.test(text)) {
		throw new InvalidInput(
			`“${text}” is not an agent ID`,
			'Choose the agent from the list in Agent, or enter an ID that begins with agent_ and has no spaces.',
		);
	}
	return text;
}

/** Text that people read: kept as it was written, refused when there is nothing in it. */
export function requireText(value: unknown, field: string): string {
	const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	if (text.trim() === '') {
		throw new InvalidInput(
			`${field} is empty`,
			`Fill in ${field} for this item. Nothing was sent.`,
		);
	}
	return text;
}

/** Session IDs as a list, or as text with commas, spaces or line breaks between them; each once. */
export function splitSessionIds(value: unknown): string[] {
	const parts = Array.isArray(value) ? value : String(value ?? '').split(/[\s,;]+/);
	const ids = parts.map((part: unknown) => (typeof part === 'string' ? part.trim() : ''));
	return [...new Set(ids.filter((id) => id !== ''))].map(parseSessionId);
}

/** One short name for several values, the same on every machine and in every run. */
export function fingerprint(...values: string[]): string {
	return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
