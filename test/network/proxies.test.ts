import type { Socket } from 'node:net';
import { responseBytes, startBadService, startGreeter, type BadService } from './badService';
import { placeCallHarness } from './placeCallHarness';

const { place, placeEach } = placeCallHarness();
const PLACED = responseBytes('{"success":true,"data":{"call_id":"c"}}');
let service: BadService;
/** The response to the POST with this number. What a proxy returns looks to n8n like a response of the service. */
let respond: (postCount: number) => Buffer;

beforeEach(async () => {
	respond = () => PLACED;
	service = await startBadService(({ socket }, postCount) => socket.end(respond(postCount)));
});
afterEach(async () => {
	await service.close();
});
const baseUrl = () => `http://127.0.0.1:${service.port}`;

describe('a proxy between n8n and the service', () => {
	test.each([400, 403, 404, 408, 409, 499, 500, 502, 503, 504, 520, 522, 524, 200, 202, 302])(
		'that returns a page with %i: the outcome is unknown, with one POST',
		async (status) => {
			const page = '<!doctype html><title>Gateway</title>';
			respond = () => responseBytes(page, { status: `${status} Page`, type: 'text/html' });
			expect(await place(baseUrl())).toMatchObject({ outcome: 'unknown' });
			expect(service.posts).toHaveLength(1);
		},
	);

	test('that returns 429 twice and then forwards the request: the call is placed', async () => {
		const limited = { status: '429 Too Many Requests', headers: 'Retry-After: 1\r\n' };
		respond = (postCount) => (postCount > 2 ? PLACED : responseBytes('', limited));
		expect(await place(baseUrl())).toEqual({ outcome: 'placed', message: 'c' });
		expect(service.posts).toHaveLength(3);
	});

	test('that returns the response to an earlier POST: the second call is unknown, and nothing is sent again', async () => {
		const people = [{ phone: '9876543210' }, { phone: '9876543211' }];
		expect(await placeEach(baseUrl(), people)).toEqual([
			expect.objectContaining({ call_id: 'c' }),
			expect.objectContaining({
				error: expect.stringContaining('The response has the ID of another call of this execution'),
			}),
		]);
		expect(service.posts).toHaveLength(2);
	});
});

describe('a base URL', () => {
	test('under a path: the call is placed there', async () => {
		const result = await place(`${baseUrl()}/voice/agent/`);
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
			message: expect.stringContaining("'Base URL' in the credential isn't the URL of a service"),
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
