import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { listen } from '../n8n/ports';

/** The TCP connection to n8n. `reset` also works below TLS. */
export type TcpConnection = { socket: Socket; reset: () => void };

/** Runs when a whole request has arrived. `postCount` counts the POST requests. */
export type Behavior = (connection: TcpConnection, postCount: number) => void;

export type BadService = {
	port: number;
	/** Bodies of the complete POST requests, in order. A real service would have processed them. */
	posts: string[];
	/** The number of connections that were opened. */
	connections: () => number;
	close: () => Promise<void>;
};

/** A service at the level of bytes: counts each complete request, then runs `behave`, which may break the connection. */
export async function startBadService(
	behave: Behavior,
	tls?: TlsOptions,
	host?: string,
): Promise<BadService> {
	const posts: string[] = [];
	const sockets = new Map<number | undefined, Socket>();
	let opened = 0;
	const serve = (socket: Socket): void => {
		const reset = () => sockets.get(socket.remotePort)?.resetAndDestroy();
		let received = Buffer.alloc(0);
		socket.on('error', () => {});
		socket.on('data', (chunk) => {
			received = Buffer.concat([received, chunk]);
			for (let request = firstRequest(received); request; request = firstRequest(received)) {
				received = received.subarray(request.length);
				if (request.isPost) posts.push(request.body);
				behave({ socket, reset }, posts.length);
			}
		});
	};
	const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
	server.on('connection', (socket) => {
		opened++;
		const { remotePort } = socket;
		sockets.set(remotePort, socket);
		socket.on('error', () => {});
		socket.on('close', () => sockets.delete(remotePort));
	});
	const port = await listen(server, 0, host);
	return {
		port,
		posts,
		connections: () => opened,
		close: async () => {
			for (const socket of sockets.values()) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** A server that runs `greet` for each connection, before any request. Counts the bytes that it receives. */
export async function startGreeter(greet: (socket: Socket) => void) {
	const sockets = new Set<Socket>();
	let received = 0;
	const server = createServer((socket) => {
		sockets.add(socket);
		socket.on('error', () => {});
		socket.on('data', ({ length }) => (received += length));
		greet(socket);
	});
	const port = await listen(server);
	return {
		port,
		received: () => received,
		close: async () => {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

type ParsedRequest = { length: number; isPost: boolean; body: string };

/** The first request in the received bytes, if it's complete. */
function firstRequest(bytes: Buffer): ParsedRequest | undefined {
	const end = bytes.indexOf('\r\n\r\n');
	if (end < 0) return undefined;
	const head = bytes.subarray(0, end).toString('latin1');
	const size = Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0);
	const length = end + 4 + size;
	if (bytes.length < length) return undefined;
	const body = bytes.subarray(end + 4, length).toString();
	return { length, isPost: head.startsWith('POST '), body };
}

/** The bytes of a complete response. */
export function responseBytes(
	body: string,
	{ status = '200 OK', type = 'application/json', headers = '' } = {},
): Buffer {
	const size = Buffer.byteLength(body);
	return Buffer.from(
		`HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${size}\r\n${headers}\r\n${body}`,
	);
}
