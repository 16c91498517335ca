import type { Dialect, Simulator } from '../simulator';

/** What a node says of a session that the service does not know, which the document leaves open. */
export function unknownSession({ name }: Dialect): string {
	return (
		{
			plain: 'The service does not find what this request names',
			terse: 'The service does not find this agent',
			wrapped: 'The service did not accept the request',
		}[name] ?? ''
	);
}

/** The text of a reply that does not come with the own ack. */
export function lateReply({ socket }: Dialect, text: string): string | null {
	return socket.replyText === 'nowhere' ? null : text;
}

/** Acts as soon as someone listens to the session. */
export function onceConnected(simulator: Simulator, sessionId: string, act: () => void): void {
	const look = setInterval(() => {
		if (simulator.sessions.openSockets(sessionId) === 0) return;
		clearInterval(look);
		act();
	}, 5);
	look.unref();
}
