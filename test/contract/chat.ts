import type { Dialect, Simulator } from '../simulator';

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

/**
 * Runs `act` as soon as a client listens to the session. Because the service may send times in whole seconds, its clock
 * is a second ahead: an event in the first second of a wait could be from before the wait.
 */
export function onceConnected(simulator: Simulator, sessionId: string, act: () => void): void {
	const timer = setInterval(() => {
		if (simulator.sessions.openSockets(sessionId) === 0) return;
		clearInterval(timer);
		simulator.clock.advance(1_000);
		act();
	}, 5);
	timer.unref();
}
