import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Operating systems take ports from 32768 for clients, and for servers that ask for any port. So nobody gets one of these
 * before the process that it's for.
 */
const FIRST = 20_000;
const LAST = 32_767;

/** Where n8n reaches the servers of the tests. In a container with its own network, it's another address of this machine. */
export const serviceHost = process.env.SERVICE_HOST ?? '127.0.0.1';

/** Ports that this process has given away. */
const given = new Set<number>();

/** A free port for a process that starts later. A server of this process asks for any port, with `listen`. */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = randomInt(FIRST, LAST + 1);
		if (!given.has(port) && (await isFree(port))) {
			given.add(port);
			return port;
		}
	}
}

/** Throws if the port isn't free. */
export async function requireFree(port: number): Promise<void> {
	const server = createServer();
	await listen(server, port);
	await new Promise((resolve) => server.close(resolve));
}

/** Starts a server, by default on any port of 127.0.0.1. Returns the port. */
export async function listen(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
	server.listen(port, host);
	await once(server, 'listening');
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('The server has no port');
	return address.port;
}

/**
 * Whether a request is for this machine by one of its own names. A website can have its name resolve to 127.0.0.1, and then
 * read what a server here responds (DNS rebinding).
 */
export function isOwnName(host: string | undefined): boolean {
	return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i.test(host ?? '');
}

async function isFree(port: number): Promise<boolean> {
	try {
		await requireFree(port);
		return true;
	} catch (error) {
		if (codeOf(error) === 'EADDRINUSE') return false;
		throw error;
	}
}

/** Without `instanceof`, because Jest's node environment has an `Error` of its own. */
function codeOf(error: unknown): unknown {
	return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
