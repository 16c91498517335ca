import type { Dialect } from '../simulator';

/** The requests with which a node connects to a session. */
export const connectRequests = (session: string) => [
	`POST /v1/chat/session/${session}/ws_token`,
	`GET /v1/chat/session/${session}/user-stream`,
];

/** The message of a node if the session is unknown. How the service reports this isn't documented. */
export function unknownSession({ statuses, chat }: Dialect): string {
	if (chat.unknownSession === 'agent_not_found') return 'The service found no such agent';
	return statuses.sessionNotFound === 404
		? 'The service returned "not found"'
		: 'The service rejected the request';
}

/** The same for a request with the session in its path. */
export function unknownSessionInPath(dialect: Dialect): string {
	const { statuses, chat } = dialect;
	if (chat.unknownSession === 'agent_not_found') {
		return 'The service found no agent of this chat session';
	}
	return statuses.sessionNotFound === 404
		? "The service didn't find the chat session"
		: unknownSession(dialect);
}
