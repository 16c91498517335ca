import { createServer, type IncomingHttpHeaders } from 'node:http';
import { isObject, type JsonObject } from '../json';

export interface Received {
	headers: IncomingHttpHeaders;
	text: string;
	body: JsonObject;
}

/** Receives webhooks, and responds with the given statuses in order, then 200. */
export class Receiver {
	readonly received: Received[] = [];
	url = '';
	statuses: number[] = [];
	private readonly server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const text = Buffer.concat(chunks).toString('utf8');
			const body: unknown = JSON.parse(text);
			this.received.push({ headers: request.headers, text, body: isObject(body) ? body : {} });
			response.writeHead(this.statuses.shift() ?? 200).end();
		});
	});

	async start(): Promise<void> {
		await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
		const address = this.server.address();
		if (address === null || typeof address === 'string') throw new Error('no port');
		this.url = `http://127.0.0.1:${address.port}/hook`;
	}

	async stop(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise<void>((resolve) => this.server.close(() => resolve()));
	}
}
