import { connect, createServer, type Socket } from 'node:net';
import { listening } from './badService';

export type Relay = {
	port: number;
	close: () => Promise<void>;
};

/** Changes the bytes from the service, or ends the connection. `undefined` forwards nothing. */
export type Tamper = (chunk: Buffer, client: Socket) => Buffer | undefined;

/**
 * Forwards encrypted bytes between n8n and the service. While `isDue` returns true, bytes from the service go
 * through `tamper`.
 */
export async function startRelay(
	target: number,
	isDue: () => boolean,
	tamper: Tamper,
): Promise<Relay> {
	const sockets = new Set<Socket>();
	const server = createServer((client) => {
		const service = connect(target, '127.0.0.1');
		for (const socket of [client, service]) {
			sockets.add(socket);
			socket.on('error', () => {});
		}
		client.on('data', (chunk) => service.write(chunk));
		service.on('data', (chunk) => {
			const forwarded = isDue() ? tamper(chunk, client) : chunk;
			if (forwarded !== undefined) client.write(forwarded);
		});
		client.on('close', () => service.destroy());
		service.on('close', () => client.end());
	});
	const port = await listening(server);
	return {
		port,
		close: async () => {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
