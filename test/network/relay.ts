import { connect, createServer, type Socket } from 'node:net';
import { listening } from './badService';

export type Relay = {
	port: number;
	close: () => Promise<void>;
};

/** Changes what the service says, or cuts it off; `undefined` passes nothing on. */
export type Tamper = (chunk: Buffer, client: Socket) => Buffer | undefined;

/**
 * Passes bytes on between n8n and the service, encrypted as they are. What the service says once `isDue` goes
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
			const passed = isDue() ? tamper(chunk, client) : chunk;
			if (passed !== undefined) client.write(passed);
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
