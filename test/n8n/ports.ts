import { createServer } from 'node:net';

/** A free port. Throws if `wanted` isn't free. */
export async function freePort(wanted = 0): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(wanted, '127.0.0.1', resolve);
	});
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	if (address === null || typeof address === 'string') throw new Error('The server has no port');
	return address.port;
}
