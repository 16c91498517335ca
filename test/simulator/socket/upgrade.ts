import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { delay } from '../clock';
import { faultyResponse } from '../http/send';
import type { RecordedRequest } from '../http/requestLog';
import type { SimulatorState } from '../world';

const PATH = /^\/v1\/chat\/session\/([^/]+)\/user-stream$/;

/** Accepts upgrades of the session path as sockets of the hub. */
export function attachSockets(world: SimulatorState, server: Server): void {
	const sockets = new WebSocketServer({ noServer: true });
	server.on('upgrade', (request: IncomingMessage, raw: Duplex, head: Buffer) => {
		raw.on('error', () => raw.destroy());
		void upgrade(world, sockets, request, raw, head);
	});
}

async function upgrade(
	world: SimulatorState,
	sockets: WebSocketServer,
	request: IncomingMessage,
	raw: Duplex,
	head: Buffer,
): Promise<void> {
	const url = new URL(request.url ?? '/', world.baseUrl);
	const query = Object.fromEntries(url.searchParams);
	const token = query.token ?? null;
	const recorded: RecordedRequest = {
		method: 'GET',
		path: url.pathname,
		query,
		headers: request.headers,
		at: world.clock.now(),
		outcome: {
			token: token === null ? 'missing' : world.tokens.valid(token) ? 'valid' : 'invalid',
		},
	};
	world.log.open(recorded);
	const sessionId = PATH.exec(url.pathname)?.[1];
	if (sessionId === undefined || !keepsOwnQuery(world, url)) {
		reject(raw, 404, 'Not Found');
		return;
	}
	if (await faulty(world, recorded, raw)) return;
	sockets.handleUpgrade(request, raw, head, (ws) => {
		const rejection = world.hub.accept(ws, {
			sessionId: decodeURIComponent(sessionId),
			token,
			clientId: query.client_id ?? '',
			claim: query.claim === '1',
		});
		recorded.outcome.status = rejection?.code ?? 101;
		if (rejection) recorded.outcome.error = rejection.word;
	});
}

/** Whether the URL is as returned. */
function keepsOwnQuery({ dialect }: SimulatorState, url: URL): boolean {
	const own = new URLSearchParams(dialect.socket.urlQuery);
	return [...own].every(([name, value]) => url.searchParams.get(name) === value);
}

/** Whether an injected fault has handled the upgrade. */
async function faulty(
	world: SimulatorState,
	{ method, path, outcome }: RecordedRequest,
	raw: Duplex,
): Promise<boolean> {
	const fault = world.faults.take(method, path);
	if (!fault) return false;
	outcome.fault = fault.kind;
	await delay(fault.latencyMs ?? 0);
	if (fault.kind === 'latency') return false;
	if (fault.kind === 'hang') return true;
	const sent = faultyResponse(fault, world.dialect, `${world.baseUrl}/elsewhere`);
	if (sent) reject(raw, sent.status, 'Rejected');
	else raw.destroy();
	return true;
}

function reject(raw: Duplex, status: number, text: string): void {
	raw.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
