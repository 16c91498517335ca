import type { Socket } from 'node:net';
import { responseBytes, startBadService, startGreeter, type BadService } from './badService';
import { startGateway, type Gateway, type Page } from './gateway';
import { placeCallHarness } from './placeCallHarness';

const { place, placeEach } = placeCallHarness();
const PLACED = responseBytes('{"success":true,"data":{"call_id":"c"}}');
const PAGE = '<!doctype html><title>Gateway</title>';
const HTML = { 'Content-Type': 'text/html' };
let service: BadService;
let gateway: Gateway | undefined;

beforeEach(async () => {
	service = await startBadService(({ socket }) => socket.end(PLACED));
});
afterEach(async () => {
	await gateway?.close();
	await service.close();
});

async function placeThroughProxy(
	passes: (count: number) => boolean,
	page: (count: number) => Page | undefined,
) {
	gateway = await startGateway(service.port, passes, page);
	return await place(`http://127.0.0.1:${gateway.port}`);
}

describe('a proxy between n8n and the service', () => {
	test.each([400, 403, 404, 408, 409, 499, 500, 502, 503, 504, 520, 522, 524, 200, 202, 302])(
		'that returns %i after forwarding the request: the outcome is unknown, with one POST',
		async (status) => {
			const result = await placeThroughProxy(
				() => true,
				() => ({ status, headers: HTML, body: PAGE }),
			);
			expect(result.outcome).toBe('unknown');
			expect(service.posts).toHaveLength(1);
		},
	);

	test.each([403, 408, 502, 503, 504, 524])(
		'that returns %i without forwarding the request: the outcome is unknown, and nothing is sent again',
		async (status) => {
			const result = await placeThroughProxy(
				() => false,
				() => ({ status, headers: HTML, body: PAGE }),
			);
			expect(result.outcome).toBe('unknown');
			expect(gateway?.requests()).toBe(1);
		},
	);

	test('that returns 429 twice and then forwards the request: the call is placed, with one POST', async () => {
		const result = await placeThroughProxy(
			(count) => count > 2,
			(count) => (count > 2 ? undefined : { status: 429, headers: { 'Retry-After': '1' } }),
		);
		expect(result).toEqual({ outcome: 'placed', message: 'c' });
		expect(service.posts).toHaveLength(1);
		expect(gateway?.requests()).toBe(3);
	});

	test('when the service resets the connection: the outcome is unknown, with one POST', async () => {
		await service.close();
		service = await startBadService(({ reset }) => reset());
		const result = await placeThroughProxy(
			() => true,
			() => undefined,
		);
		expect(result.outcome).toBe('unknown');
		expect(service.posts).toHaveLength(1);
	});
});

describe('a cache that returns the response to an earlier POST', () => {
	const people = [{ phone: '9876543210' }, { phone: '9876543211' }];

	test('the second call is unknown, and nothing is sent again', async () => {
		gateway = await startGateway(
			service.port,
			(count) => count === 1,
			(count) =>
				count === 1 ? undefined : { status: 200, body: '{"success":true,"data":{"call_id":"c"}}' },
		);
		const results = await placeEach(`http://127.0.0.1:${gateway.port}`, people);
		expect(results).toEqual([
			expect.objectContaining({ call_id: 'c' }),
			expect.objectContaining({
				error: expect.stringContaining('The response has the ID of another call of this execution'),
			}),
		]);
		expect(gateway.requests()).toBe(2);
	});
});

describe('a base URL', () => {
	test('under a path: the call is placed there', async () => {
		const result = await place(`http://127.0.0.1:${service.port}/voice/agent/`);
		expect(result).toEqual({ outcome: 'placed', message: 'c' });
		expect(service.posts).toHaveLength(1);
	});

	test('of a host with IPv6 only: the call is placed', async () => {
		const ipv6 = await startBadService(({ socket }) => socket.end(PLACED), undefined, '::1');
		expect(await place(`http://[::1]:${ipv6.port}`)).toEqual({ outcome: 'placed', message: 'c' });
		await ipv6.close();
	});

	test('behind basic authentication: nothing was sent, because its header would replace the token', async () => {
		const result = await place(`https://user:password@127.0.0.1:${service.port}`);
		expect(result).toMatchObject({
			outcome: 'rejected',
			message: expect.stringContaining("'Base URL' in the credential has a user name"),
		});
		expect(service.connections()).toBe(0);
	});
});

describe('without a reachable service', () => {
	test('a port that rejects connections: nothing was sent', async () => {
		const { port, close } = await startGreeter(() => {});
		await close();
		for (const host of ['127.0.0.1', 'localhost']) {
			expect(await place(`http://${host}:${port}`)).toMatchObject({
				outcome: 'not_sent',
				message: expect.stringContaining("can't be reached"),
			});
		}
	});

	test('a host name that does not exist: nothing was sent', async () => {
		expect(await place('https://voice-agent.invalid')).toMatchObject({
			outcome: 'not_sent',
			message: expect.stringContaining("can't be reached"),
		});
	});

	test.each<[string, (socket: Socket) => void]>([
		['resets', (socket) => socket.resetAndDestroy()],
		['closes', (socket) => socket.destroy()],
		['half-closes', (socket) => socket.end()],
	])(
		'a port that accepts a connection and %s it: "nothing was sent" only if no byte arrived',
		async (_action, greet) => {
			const greeter = await startGreeter(greet);
			const { outcome } = await place(`http://127.0.0.1:${greeter.port}`);
			await greeter.close();
			expect(['unknown', 'not_sent']).toContain(outcome);
			if (outcome === 'not_sent') expect(greeter.received()).toBe(0);
		},
	);
});
