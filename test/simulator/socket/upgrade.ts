import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { RecordedRequest } from '../http/requestLog';
import type { Simulator } from '../simulator';

const PATH = /^\/v1\/chat\/session\/([^/]+)\/user-stream$/;

/** Accepts upgrades of the session path as sockets of the hub. */
export function attachSockets(sim: Simulator, server: Server): void {
	const sockets = new WebSocketServer({ noServer: true });
	server.on('upgrade', (request: IncomingMessage, raw: Duplex, head: Buffer) => {
		raw.on('error', () => raw.destroy());
		upgrade(sim, sockets, request, raw, head);
	});
}

function upgrade(
	sim: Simulator,
	sockets: WebSocketServer,
	request: IncomingMessage,
	raw: Duplex,
	head: Buffer,
): void {
	if (!sim.isFor(request.headers)) {
		raw.end('HTTP/1.1 421 Rejected\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
		return;
	}
	const url = new URL(request.url ?? '/', sim.baseUrl);
	const query = Object.fromEntries(url.searchParams);
	const recorded: RecordedRequest = {
		method: 'GET',
		path: url.pathname,
		query,
		headers: request.headers,
		at: sim.clock.now(),
		outcome: {},
	};
	sim.log.open(recorded);
	const sessionId = PATH.exec(url.pathname)?.[1];
	// The client must keep the query of the URL as returned.
	const own = [...new URLSearchParams(sim.dialect.socket.urlQuery)];
	if (sessionId === undefined || own.some(([name, value]) => query[name] !== value)) {
		raw.end('HTTP/1.1 404 Rejected\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
		return;
	}
	sockets.handleUpgrade(request, raw, head, (ws) => {
		const rejection = sim.hub.accept(ws, {
			sessionId: decodeURIComponent(sessionId),
			token: query.token,
			clientId: query.client_id ?? '',
			claim: query.claim === '1',
		});
		recorded.outcome.status = rejection?.code ?? 101;
		if (rejection) recorded.outcome.error = rejection.word;
	});
}
