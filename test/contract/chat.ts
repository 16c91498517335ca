import type { Dialect, Simulator } from '../simulator';

/** The requests with which a node connects to a session. */
export const connectRequests = (session: string) => [
	`POST /v1/chat/session/${session}/ws_token`,
	`GET /v1/chat/session/${session}/user-stream`,
];

/** The message of a node if the session is unknown. How the service reports this isn't documented. */
export function unknownSession({ name }: Dialect): string {
	return (
		{
			plain: 'The service returned "not found"',
			terse: 'The service found no such agent',
			wrapped: 'The service rejected the request',
			nested: 'The service rejected the request',
		}[name] ?? ''
	);
}

/** The same for a request with the session in its path. */
export function unknownSessionInPath(dialect: Dialect): string {
	if (dialect.statuses.sessionNotFound === 404) return "The service didn't find the chat session";
	return dialect.name === 'terse'
		? 'The service found no agent of this chat session'
		: unknownSession(dialect);
}

const SECOND_MS = 1_000;

/**
 * Runs `act` as soon as a client listens to the session. If the service sends times in whole seconds, runs it in the
 * next second, because an event in the first second of a wait could be from before the wait.
 */
export function onceConnected(simulator: Simulator, sessionId: string, act: () => void): void {
	const { socket } = simulator.dialect;
	const isInSeconds = socket.ts(0) === socket.ts(SECOND_MS - 1);
	const timer = setInterval(() => {
		if (simulator.sessions.openSockets(sessionId) === 0) return;
		clearInterval(timer);
		const delay = isInSeconds ? SECOND_MS - (Date.now() % SECOND_MS) : 0;
		setTimeout(act, delay).unref();
	}, 5);
	timer.unref();
}
