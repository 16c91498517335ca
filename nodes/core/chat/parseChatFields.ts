import uniqBy from 'lodash/uniqBy';
import { InvalidInput } from '../service/errors';
import { onScreenOnly } from '../service/resolution';
import { UUID } from '../service/parseIds';
import { givenAs, hasFormat } from '../service/modelFormats';
import { isUnset, plainText, quoted } from '../values/values';

const USE_SESSION_ID =
	'Use the session_id that the node that created the session returns, such as 0f8fad5b-d9cb-469f-a165-70867728950e.';

/** @throws InvalidInput if the text isn't a UUID (`SessionId`) */
export function parseSessionId(text: string): string {
	if (text === '') {
		throw new InvalidInput(
			"'Session ID' is empty",
			givenAs('Session ID', 'Enter the ID of the chat session.'),
		);
	}
	if (UUID.test(text)) return text;
	throw new InvalidInput(
		`'Session ID' isn't a session ID (got ${quoted(text)})`,
		givenAs('Session ID', USE_SESSION_ID),
	);
}

/** @throws InvalidInput if it's empty or only spaces */
export function requireText(text: string, field: string): string {
	if (text.trim() === '') {
		const resolution = `Fill in '${field}' for this item.`;
		throw new InvalidInput(
			`'${field}' is empty`,
			hasFormat(field)
				? givenAs(field, resolution)
				: { onScreen: resolution, forModel: `Give ${field}.`, fields: [field] },
		);
	}
	return text;
}

/** The same for each spelling of a session ID, because UUIDs aren't case-sensitive. */
export function sessionKey(sessionId: string): string {
	return UUID.test(sessionId) ? sessionId.toLowerCase() : sessionId;
}

/**
 * The distinct session IDs of a list, or of text with commas, spaces, or line breaks.
 *
 * @param field for the message, in its quotation marks
 * @throws InvalidInput if one of them isn't a UUID
 */
export function splitSessionIds(value: unknown, field = "'Session IDs'"): string[] {
	const list: unknown = typeof value === 'string' ? value.split(/[\s,;]/) : value;
	const parts = (Array.isArray(list) ? list : [list]).filter((part) => !isUnset(part));
	const invalid: unknown = parts.find((part) => !UUID.test(plainText(part).trim()));
	if (invalid === undefined) {
		return uniqBy(
			parts.map((part) => plainText(part).trim()),
			sessionKey,
		);
	}
	throw new InvalidInput(
		`${field} must list session IDs (got ${quoted(invalid)})`,
		onScreenOnly(USE_SESSION_ID),
	);
}
