import type { Dialect, Simulator } from '../simulator';

/** The requests with which a node takes up the live connection of a session. */
export const connecting = (session: string) => [
	`POST /v1/chat/session/${session}/ws_token`,
	`GET /v1/chat/session/${session}/user-stream`,
];

/** What a node says of a session that the service does not know, which the document leaves open. */
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

/** The same of a request whose path names the session. */
export function unknownSessionInPath(dialect: Dialect): string {
	return dialect.statuses.sessionNotFound === 404
		? "The service didn't find the chat session"
		: unknownSession(dialect);
}

/** The text of a reply that does not come with the own ack: null unless the turn's result names it. */
export function lateReply({ socket }: Dialect, text: string): string | null {
	return socket.resultNames === 'agent' ? text : null;
}

const SECOND_MS = 1_000;

/**
 * Acts as soon as someone listens to the session. If the service gives times in whole seconds, it acts in the next
 * second: of an event in the second in which a wait begins, nothing shows whether it came before.
 */
export function onceConnected(simulator: Simulator, sessionId: string, act: () => void): void {
	const { socket } = simulator.dialect;
	const isInSeconds = socket.ts(0) === socket.ts(SECOND_MS - 1);
	const look = setInterval(() => {
		if (simulator.sessions.openSockets(sessionId) === 0) return;
		clearInterval(look);
		const delay = isInSeconds ? SECOND_MS - (Date.now() % SECOND_MS) : 0;
		setTimeout(act, delay).unref();
	}, 5);
	look.unref();
}
