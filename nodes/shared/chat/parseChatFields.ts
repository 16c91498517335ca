import uniqBy from 'lodash/uniqBy';
import { InvalidInput } from '../api/errors';
import { forEveryone, onScreenOnly } from '../api/modelAdvice';
import { UUID } from '../api/limits';
import type { JsonObject } from '../json';
import { givenAs, hasForm } from '../modelForms';
import { plainText, quoted } from '../values';

/** @throws InvalidInput unless it has the documented form of a session ID (Resources › Chat session) */
export function parseSessionId(text: string): string {
	if (text === '') {
		throw new InvalidInput(
			'The Session ID is empty',
			givenAs('Session ID', 'Fill in the ID of the chat session.'),
		);
	}
	if (!UUID.test(text)) {
		throw new InvalidInput(
			`${quoted(text)} is not a session ID`,
			givenAs(
				'Session ID',
				'A session ID has the form 0f8fad5b-d9cb-469f-a165-70867728950e. Take it from session_id of the node that created the session.',
			),
		);
	}
	return text;
}

/** Text that people read: kept as it was written, rejected when there is nothing in it. */
export function requireText(text: string, field: string): string {
	if (text.trim() === '') {
		const resolution = `Fill in ${field} for this item.`;
		throw new InvalidInput(
			`${field} is empty`,
			hasForm(field)
				? givenAs(field, resolution)
				: { onScreen: resolution, forModel: `Give ${field}.` },
		);
	}
	return text;
}

/** The same for each way to write a session ID: in a UUID, upper and lower case mean the same. */
export function sessionKey(sessionId: string): string {
	return UUID.test(sessionId) ? sessionId.toLowerCase() : sessionId;
}

/** Session IDs as a list, or as text with commas, spaces or line breaks between them; each once. */
export function splitSessionIds(value: unknown): string[] {
	const parts: unknown[] = Array.isArray(value) ? value : plainText(value).split(/[\s,;]/);
	const ids = parts.map((part) => plainText(part).trim());
	return uniqBy(ids.filter((id) => id !== '').map(parseSessionId), sessionKey);
}

/** What Chat Session → Watch / Unwatch posts to the address of a Chat Events Trigger. */
export type WatchRequest = { action: 'watch' | 'unwatch'; sessionIds: string[] };

/** Carries the secret of the trigger, where it has one. */
export const SECRET_HEADER = 'x-watch-secret';

/** Everything else is changed or rejected on its way in a header. */
const HEADER_TEXT = /^[\x20-\x7e]*$/;

/** @throws InvalidInput unless it arrives in the header as it is; `field` is the name on the screen */
export function parseWatchSecret(secret: string, field: string): string {
	if (HEADER_TEXT.test(secret)) return secret;
	throw new InvalidInput(
		`'${field}' can only have ASCII characters`,
		onScreenOnly('Use letters, digits, and punctuation: the secret is sent in an HTTP header.'),
	);
}

export function watchBody({ action, sessionIds }: WatchRequest): JsonObject {
	return { action, session_ids: sessionIds };
}

/** @throws InvalidInput unless it says what to do with which sessions */
export function parseWatchRequest(body: { [name: string]: unknown }): WatchRequest {
	const { action, session_ids: ids = body.session_id } = body;
	if (action !== 'watch' && action !== 'unwatch') {
		throw new InvalidInput(
			'The request does not say what to do',
			forEveryone('Send { "action": "watch", "session_ids": ["…"] }, or the action “unwatch”.'),
		);
	}
	const sessionIds = splitSessionIds(ids);
	if (sessionIds.length === 0) {
		throw new InvalidInput(
			'The request names no session',
			forEveryone('Send the IDs of the sessions as session_ids.'),
		);
	}
	return { action, sessionIds };
}
