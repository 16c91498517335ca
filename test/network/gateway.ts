import { createServer, request } from 'node:http';
import { listening } from './badService';

export type Gateway = {
	port: number;
	/** Requests that n8n sent to it. */
	requests: () => number;
	close: () => Promise<void>;
};

export type Page = { status: number; headers?: { [name: string]: string }; body?: string };

/**
 * A reverse proxy before the service. `passes` says whether it hands a request on; what it answers is its own, or the
 * service's where `page` gives none.
 */
export async function startGateway(
	service: number,
	passes: (count: number) => boolean,
	page: (count: number) => Page | undefined,
): Promise<Gateway> {
	let count = 0;
	const server = createServer((incoming, outgoing) => {
		const mine = ++count;
		const own = page(mine);
		const answer = ({ status, headers = {}, body = '' }: Page) => {
			outgoing.writeHead(status, headers).end(body);
		};
		const chunks: Buffer[] = [];
		incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
		incoming.on('end', () => {
			if (!passes(mine)) {
				answer(own ?? { status: 503 });
				return;
			}
			const onward = request({
				port: service,
				host: '127.0.0.1',
				path: incoming.url,
				method: incoming.method,
				headers: incoming.headers,
			});
			onward.on('error', () => answer(own ?? { status: 502 }));
			onward.on('response', (response) => {
				if (own !== undefined) {
					response.resume();
					answer(own);
					return;
				}
				outgoing.writeHead(response.statusCode ?? 502, response.headers);
				response.pipe(outgoing);
			});
			onward.end(Buffer.concat(chunks));
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
