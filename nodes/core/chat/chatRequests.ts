import type { ApiResponse } from '../service/http';
import type { Account } from '../profile/serviceProfile';
import { isJsonObject, type JsonValue, levelsIn, valueAt } from '../values/json';
import { idText } from './frames';

/** What to do if the ID isn't found. */
export function whereIsSessionId({ profile }: Account): string {
	return profile.resolution('chat.session', 'session');
}

/** Values to search in a response of the chat. */
export const MAX_RESPONSE_VALUES = 10_000;

/**
 * The ID of the new session, or null if it isn't found. The shape of the response isn't documented, so without a path in the
 * profile, the outermost `session_id` wins. Null if the outermost ones differ, because any of them could be about
 * something else.
 */
export function createdSessionId({ profile }: Account, { body }: ApiResponse): string | null {
	const path = profile.part('chat.session')?.session;
	if (path !== undefined) return idText(valueAt(body, path));
	for (const level of levelsIn(body, MAX_RESPONSE_VALUES)) {
		const [first = null, ...others] = new Set(level.flatMap((value) => sessionIdOf(value) ?? []));
		if (first !== null) return others.length === 0 ? first : null;
	}
	return null;
}

function sessionIdOf(value: JsonValue): string | null {
	const isSession = isJsonObject(value) && Object.hasOwn(value, 'session_id');
	return isSession ? idText(value.session_id) : null;
}
