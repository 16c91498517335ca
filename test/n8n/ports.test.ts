/**
 * As in the tests with a real n8n, where errors of Node.js aren't instances of the tests' `Error`.
 *
 * @jest-environment node
 */
import { createServer } from 'node:net';
import { freePort, listen } from './ports';

const ports: number[] = [];
jest.mock('node:crypto', () => ({ randomInt: () => ports.shift() }));

test('a port that is in use is skipped', async () => {
	const [used, free] = [createServer(), createServer()];
	ports.push(await listen(used), await listen(free));
	const [taken = 0, port = 0] = ports;
	await new Promise((resolve) => free.close(resolve));
	try {
		expect(await freePort()).toBe(port);
		expect(port).not.toBe(taken);
	} finally {
		await new Promise((resolve) => used.close(resolve));
	}
});
