import { createServer, type RequestListener } from 'node:http';
import type { INodeParameters, IRun } from 'n8n-workflow';
import { listen } from '../n8n/ports';
import { realSockets } from './realSockets';

export type LocalServer = {
	baseUrl(): string;
	/** Runs a node of the package with this server and a number of items. */
	run(type: string, parameters: INodeParameters, items?: number): Promise<IRun>;
};

/** Starts an HTTP server for the tests of a file. */
export function localServer(listener: RequestListener): LocalServer {
	const run = realSockets();
	const server = createServer(listener);
	let port = 0;
	beforeAll(async () => {
		port = await listen(server);
	});
	afterAll(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	const baseUrl = () => `http://127.0.0.1:${port}`;
	return {
		baseUrl,
		run: async (type, parameters, items = 1) => {
			const input = Array.from({ length: items }, () => ({ json: {} }));
			return await run(baseUrl(), type, parameters, input);
		},
	};
}
