import type { Socket } from 'node:net';
import { answerBytes, startBadService, startGreeter, type BadService } from './badService';
import { startGateway, type Gateway, type Page } from './gateway';
import { placing } from './placing';

const { place } = placing();
const PLACED = answerBytes('{"success":true,"data":{"call_id":"c"}}');
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

async function behind(
	passes: (count: number) => boolean,
	page: (count: number) => Page | undefined,
) {
	gateway = await startGateway(service.port, passes, page);
	return await place(`http://127.0.0.1:${gateway.port}`);
}

describe('a proxy between n8n and the service', () => {
	test.each([400, 403, 404, 408, 409, 499, 500, 502, 503, 504, 520, 522, 524, 200, 202, 302])(
		'that answers %i after it has passed the request on: unknown, and one POST',
		async (status) => {
			const told = await behind(
				() => true,
				() => ({ status, headers: HTML, body: PAGE }),
			);
			expect(told.outcome).toBe('unknown');
			expect(service.posts).toHaveLength(1);
		},
	);

	test.each([403, 408, 502, 503, 504, 524])(
		'that answers %i on its own: unknown, and nothing is sent again',
		async (status) => {
			const told = await behind(
				() => false,
				() => ({ status, headers: HTML, body: PAGE }),
			);
			expect(told.outcome).toBe('unknown');
			expect(gateway?.requests()).toBe(1);
		},
	);

	test('that asks twice for less haste and then passes the request on: placed, and one POST', async () => {
		const told = await behind(
			(count) => count > 2,
			(count) => (count > 2 ? undefined : { status: 429, headers: { 'Retry-After': '1' } }),
		);
		expect(told).toEqual({ outcome: 'placed', originalMessage: 'c' });
		expect(service.posts).toHaveLength(1);
		expect(gateway?.requests()).toBe(3);
	});

	test('whose service breaks the line under the request: unknown, and one POST', async () => {
		await service.close();
		service = await startBadService(({ reset }) => reset());
		const told = await behind(
			() => true,
			() => undefined,
		);
		expect(told.outcome).toBe('unknown');
		expect(service.posts).toHaveLength(1);
	});
});

describe('where nobody can be reached', () => {
	test('a port that rejects: nothing was sent', async () => {
		const { port, close } = await startGreeter(() => {});
		await close();
		for (const host of ['127.0.0.1', 'localhost']) {
			expect(await place(`http://${host}:${port}`)).toMatchObject({
				outcome: 'not_sent',
				originalMessage: expect.stringContaining("can't be reached"),
			});
		}
	});

	test('a name that does not exist: nothing was sent', async () => {
		expect(await place('https://voice-agent.invalid')).toMatchObject({
			outcome: 'not_sent',
			originalMessage: expect.stringContaining("can't be reached"),
		});
	});

	test.each<[string, (socket: Socket) => void]>([
		['resets', (socket) => socket.resetAndDestroy()],
		['closes', (socket) => socket.destroy()],
		['half-closes', (socket) => socket.end()],
	])(
		'a port that accepts and %s: "nothing was sent" only where nothing came',
		async (_what, greet) => {
			const greeter = await startGreeter(greet);
			const { outcome } = await place(`http://127.0.0.1:${greeter.port}`);
			await greeter.close();
			expect(['unknown', 'not_sent']).toContain(outcome);
			if (outcome === 'not_sent') expect(greeter.received()).toBe(0);
		},
	);
});
