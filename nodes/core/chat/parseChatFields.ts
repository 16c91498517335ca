import uniqBy from 'lodash/uniqBy';
import { InvalidInput } from '../service/errors';
import { UUID } from '../service/parseIds';
import { enter, hasFormat } from '../service/modelFormats';
import { isUnset, plainText, quoted } from '../values/values';

/** @throws InvalidInput if the text isn't a UUID (`SessionId`) */
export function parseSessionId(text: string): string {
	if (text === '') {
		throw new InvalidInput("'Session ID' is empty", enter('Session ID'));
	}
	if (UUID.test(text)) return text;
	throw new InvalidInput(
		`'Session ID' isn't a session ID (got ${quoted(text)})`,
		enter('Session ID'),
	);
}

/** @throws InvalidInput if it's empty or only spaces */
export function requireText(text: string, field: string): string {
	if (text.trim() === '') {
		const resolution = hasFormat(field) ? enter(field) : `Fill in '${field}'.`;
		throw new InvalidInput(`'${field}' is empty`, resolution);
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
		enter('Session ID'),
	);
}
