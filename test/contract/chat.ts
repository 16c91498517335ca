import type { Dialect } from '../simulator';

/** The requests with which a node connects to a session. */
export const connectRequests = (session: string) => [
	`POST /v1/chat/session/${session}/ws_token`,
	`GET /v1/chat/session/${session}/user-stream`,
];

/** The message of a node if the session is unknown. How the service reports this isn't documented. */
export function unknownSession({ statuses }: Dialect): string {
	return [403, 404].includes(statuses.sessionNotFound)
		? "The service didn't find this"
		: 'The service rejected the request';
}
