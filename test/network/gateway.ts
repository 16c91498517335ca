import { createServer, request } from 'node:http';
import { listening } from './badService';

export type Gateway = {
	port: number;
	/** The number of requests from n8n. */
	requests: () => number;
	close: () => Promise<void>;
};

export type Page = { status: number; headers?: { [name: string]: string }; body?: string };

/**
 * A reverse proxy in front of the service. `passes` decides whether it forwards a request. It returns its own `page`,
 * or the service's response if `page` returns nothing.
 */
export async function startGateway(
	service: number,
	passes: (count: number) => boolean,
	page: (count: number) => Page | undefined,
): Promise<Gateway> {
	let count = 0;
	const server = createServer((incoming, outgoing) => {
		const number = ++count;
		const ownPage = page(number);
		const respond = ({ status, headers = {}, body = '' }: Page) => {
			outgoing.writeHead(status, headers).end(body);
		};
		const chunks: Buffer[] = [];
		incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
		incoming.on('end', () => {
			if (!passes(number)) {
				respond(ownPage ?? { status: 503 });
				return;
			}
			const forwarded = request({
				port: service,
				host: '127.0.0.1',
				path: incoming.url,
				method: incoming.method,
				headers: incoming.headers,
			});
			forwarded.on('error', () => respond(ownPage ?? { status: 502 }));
			forwarded.on('response', (response) => {
				if (ownPage !== undefined) {
					response.resume();
					respond(ownPage);
					return;
				}
				outgoing.writeHead(response.statusCode ?? 502, response.headers);
				response.pipe(outgoing);
			});
			forwarded.end(Buffer.concat(chunks));
		});
	});
	const port = await listening(server);
	return {
		port,
		requests: () => count,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
