import type { Dialect } from '../simulator';

/** The requests with which a node connects to a session. */
export const connectRequests = (session: string) => [
	`POST /v1/chat/session/${session}/ws_token`,
	`GET /v1/chat/session/${session}/user-stream`,
];

/** The message of a node if the session is unknown. How the service reports this isn't documented. */
export function unknownSession({ statuses, chat }: Dialect): string {
	if (chat.unknownSession === 'agent_not_found')
		return 'The account of this API token has no agent with this ID';
	return [403, 404].includes(statuses.sessionNotFound)
		? "The service didn't find this"
		: 'The service rejected the request';
}
