import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Every TCP connection of the server, including hung and upgraded ones, so that stopping closes all. */
export class OpenSockets {
	private readonly sockets = new Set<Socket>();

	constructor(server: Server, onOpened: () => void) {
		server.on('connection', (socket: Socket) => {
			onOpened();
			this.sockets.add(socket);
			socket.on('close', () => this.sockets.delete(socket));
		});
	}

	destroy(): void {
		for (const socket of this.sockets) socket.destroy();
	}
}
