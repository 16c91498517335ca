import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as realSleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import type { WebSocket as ServerSocket } from 'ws';
import { ChatConnection } from '../../../../nodes/shared/chat/connection';
import type { ConnectionOptions } from '../../../../nodes/shared/chat/connection';
import type { ChatEnded } from '../../../../nodes/shared/chat/endings';
import { messageFrame } from '../../../../nodes/shared/chat/frames';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import { ackFrame, eventFrame } from './fakes';

/** Ten times faster than the wall clock: a second of the protocol takes 100 ms here. */
const clock = {
	now: () => performance.now() * 10,
	sleep: async (ms: number) => {
		await realSleep(ms / 10);
	},
};

describe('against a real WebSocket server', () => {
	let server: WebSocketServer;
	let accepted: Array<{ socket: ServerSocket; url: string }>;
	let connections: ChatConnection[];
	let port: number;

	beforeEach(async () => {
		accepted = [];
		connections = [];
		server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
		server.on('connection', (socket, request) => {
			accepted.push({ socket, url: request.url ?? '' });
		});
		await once(server, 'listening');
		const address: AddressInfo | string | null = server.address();
		if (address === null || typeof address === 'string') throw new Error('not listening');
		port = address.port;
	});

	afterEach(async () => {
		await Promise.all(connections.map(async (connection) => await connection.close()));
		for (const client of server.clients) client.terminate();
		await new Promise((resolve) => {
			server.close(resolve);
		});
	});

	function connect(options: Partial<ConnectionOptions> = {}): ChatConnection {
		let mints = 0;
		const connection = new ChatConnection({
			sessionId: 's-1',
			baseUrl: `http://127.0.0.1:${port}`,
			clientId: 'client-1',
			takeOver: false,
			mintToken: async () => {
				mints += 1;
				const wsUrl = `ws://127.0.0.1:${port}/v1/chat/session/s-1/user-stream?own=1`;
				const token = { token: `t-${mints}`, ws_url: wsUrl, expires_at: NaN, stream: 'user' };
				return { kind: 'token', token };
			},
			openSocket: (url) => new WebSocket(url),
			clock,
			random: () => 0.5,
			log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
			...options,
		});
		connections.push(connection);
		return connection.start();
	}

	const newest = (): ServerSocket => {
		const last = accepted.at(-1);
		if (last === undefined) throw new Error('nobody connected');
		return last.socket;
	};

	it('connects, sends a message as text, and gets the reply', async () => {
		const connection = connect();
		expect(await connection.ready()).toEqual({ kind: 'open' });
		expect(accepted[0]?.url).toBe(
			'/v1/chat/session/s-1/user-stream?own=1&token=t-1&client_id=client-1',
		);
		const received: unknown[] = [];
		newest().on('message', (data, isBinary) => {
			received.push([Buffer.isBuffer(data) ? data.toString() : null, isBinary]);
			newest().send(ackFrame({ state: 'default', reply: 'hello' }));
		});
		const outcome = await sendTurn(connection, messageFrame('hi'), { clock, random: () => 0.5 });
		expect(outcome).toMatchObject({ kind: 'completed', reply: 'hello' });
		expect(received).toEqual([['{"type":"message","content":"hi"}', false]]);
	});

	it('delivers each event once over a cut connection and strange frames', async () => {
		const seen: Array<string | null> = [];
		const connection = connect({ onEvent: ({ eventId }) => seen.push(eventId) });
		await connection.ready();
		newest().send(eventFrame('nudge_sent', 'e1'));
		newest().send(Buffer.from([1, 2, 3]));
		newest().send('{"type":');
		newest().send(eventFrame('nudge_sent', 'e2'));
		while (seen.length < 2) await realSleep(5);
		newest().terminate();
		while (accepted.length < 2) await realSleep(5);
		newest().send(eventFrame('nudge_sent', 'e2'));
		newest().send(eventFrame('nudge_sent', 'e3'));
		while (seen.length < 3) await realSleep(5);
		expect(seen).toEqual(['e1', 'e2', 'e3']);
		expect(connection.counts).toEqual({ binary: 1, not_json: 1, duplicate: 1 });
	});

	it('takes a new token after 4401', async () => {
		const connection = connect();
		await connection.ready();
		newest().close(4401, 'expired');
		while (accepted.length < 2) await realSleep(5);
		expect(accepted[1]?.url).toContain('token=t-2');
	});

	it('tells the close code and the reason of a refusal', async () => {
		server.on('connection', (socket) => {
			socket.close(1008, 'policy');
		});
		const endings: ChatEnded[] = [];
		const connection = connect({
			limits: { slowPolls: 0 },
			onEnded: (ending) => endings.push(ending),
		});
		while (!connection.signal.aborted) await realSleep(5);
		expect(await connection.ready()).toMatchObject({ kind: 'ended' });
		expect(endings).toMatchObject([
			{ kind: 'held_or_inactive', originalMessage: 'close code 1008 · policy' },
		]);
	});

	it('gives up where nobody listens, without naming a token', async () => {
		await new Promise((resolve) => {
			server.close(resolve);
		});
		const originalMessage: unknown[] = [];
		const note = (...parts: unknown[]) => originalMessage.push(parts);
		const connection = connect({
			mintToken: async () => ({
				kind: 'token',
				token: {
					token: 'very-secret',
					ws_url: `ws://127.0.0.1:${port}/p`,
					expires_at: NaN,
					stream: 'user',
				},
			}),
			limits: { reconnectAttempts: 1 },
			log: { debug: note, info: note, warn: note },
		});
		const readiness = await connection.ready();
		expect(readiness).toMatchObject({ kind: 'ended', ending: { kind: 'unreachable' } });
		expect(JSON.stringify([originalMessage, readiness])).not.toContain('very-secret');
	});

	it('closes with 1000 and leaves no client on the server', async () => {
		const connection = connect();
		await connection.ready();
		const closed = once(newest(), 'close');
		await connection.close();
		const [code] = await closed;
		expect(code).toBe(1000);
		expect(server.clients.size).toBe(0);
	});
});
