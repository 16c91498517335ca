import { splitSessionIds } from './chatInput';
import { InvalidInput } from '../api/errors';
import type { JsonObject } from '../json';

/** What Chat Session → Watch / Unwatch posts to the address of a Chat Events Trigger. */
export type WatchRequest = { action: 'watch' | 'unwatch'; sessionIds: string[] };

/** Carries the secret of the trigger, where it has one. */
export const SECRET_HEADER = 'x-watch-secret';

export function watchBody({ action, sessionIds }: WatchRequest): JsonObject {
	return { action, session_ids: sessionIds };
}

/** @throws InvalidInput unless it says what to do with which sessions */
export function parseWatchRequest(body: { [name: string]: unknown }): WatchRequest {
	const { action, session_ids: ids = body.session_id } = body;
	if (action !== 'watch' && action !== 'unwatch') {
		throw new InvalidInput(
			'The request does not say what to do',
			'Send { "action": "watch", "session_ids": ["…"] }, or the action “unwatch”.',
		);
	}
	const sessionIds = splitSessionIds(ids);
	if (sessionIds.length === 0) {
		throw new InvalidInput(
			'The request names no session',
			'Send the IDs of the sessions as session_ids.',
		);
	}
	return { action, sessionIds };
}
