/** Place Call and the connections, certificates, and proxies between n8n and the service, with three attempts of Retry On Fail. */
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { TIME_LIMITS } from '../../nodes/host/http/transport';
import { holdTimeouts, speedUp, timeoutsByClock } from '../engine';
import {
	responseBytes,
	startBadService,
	startGreeter,
	type BadService,
	type Behavior,
	type TcpConnection,
} from './badService';
import { makeCertificate, trustedAuthority } from './certificates';
import { IS_LONG } from '../fuzz/runs';
import { placeCallHarness, type PlaceCallResult } from './placeCallHarness';

const { place, placeEach } = placeCallHarness();
const CALL_ID = '6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00';
const PLACED = responseBytes(`{"success":true,"data":{"call_id":"${CALL_ID}"}}`);
const HEAD = PLACED.indexOf('\r\n\r\n') + 4;

const forLocalhost = { issuer: trustedAuthority(), hosts: ['127.0.0.1'] };
const identity = makeCertificate('service', forLocalhost);
let service: BadService | undefined;

afterEach(async () => {
	jest.restoreAllMocks();
	await service?.close();
});

async function serving(behave: Behavior, tls?: TlsOptions, host?: string): Promise<BadService> {
	await service?.close();
	service = await startBadService(behave, tls, host);
	return service;
}

const servingPlaced = async (tls?: TlsOptions, host?: string) =>
	await serving(({ socket }) => socket.end(PLACED), tls, host);

/** The result of the node, and the number of complete POST requests. */
async function placeAgainst(
	scheme: string,
	behave: Behavior,
): Promise<PlaceCallResult & { posts: number }> {
	const { port, posts } = await serving(behave, scheme === 'https' ? identity : undefined);
	const result = await place(`${scheme}://127.0.0.1:${port}`);
	return { ...result, posts: posts.length };
}

/** Ends the connection after `bytes` bytes of the response. */
const after =
	(bytes: number, end: (connection: TcpConnection) => void): Behavior =>
	(connection) => {
		if (bytes === 0) end(connection);
		else connection.socket.write(PLACED.subarray(0, bytes), () => end(connection));
	};

/** Every byte in a long run, otherwise one in each part of the response and around the end of the headers. */
const OFFSETS = IS_LONG ? [...PLACED.keys()] : [0, 30, HEAD - 1, HEAD, PLACED.length - 1];

describe('after the request has arrived', () => {
	test.each<[string, string, (connection: TcpConnection) => void]>([
		['over http', 'reset', ({ reset }) => reset()],
		['over https', 'reset', ({ reset }) => reset()],
		['over http', 'half-closed', ({ socket }) => socket.end()],
		['over http', 'closed', ({ socket }) => socket.destroy()],
	])(
		'a connection %s that is %s in any part of the response: the outcome is unknown, with one POST',
		async (over, _how, end) => {
			for (const offset of OFFSETS) {
				const scheme = over.replace('over ', '');
				const { outcome, posts } = await placeAgainst(scheme, after(offset, end));
				expect({ offset, outcome, posts }).toEqual({ offset, outcome: 'unknown', posts: 1 });
			}
		},
	);

	test('a connection that is reset right after the response: the call is placed, or unknown if the response is lost', async () => {
		const { outcome, posts } = await placeAgainst(
			'http',
			after(PLACED.length, ({ reset }) => reset()),
		);
		expect(['placed', 'unknown']).toContain(outcome);
		expect(posts).toBe(1);
	});

	test.each([0, HEAD, PLACED.length - 1])(
		'a response that stalls at byte %i: the outcome is unknown, with one POST',
		async (offset) => {
			if (offset < HEAD) {
				// Until the end of the headers, axios measures the silence by the time of the machine.
				jest.replaceProperty(TIME_LIMITS, 'silenceMs', 300);
			} else {
				speedUp(1_000);
				timeoutsByClock();
			}
			const result = await placeAgainst(
				'http',
				after(offset, () => {}),
			);
			expect(result).toMatchObject({
				outcome: 'unknown',
				posts: 1,
				message: expect.stringContaining('No response arrived'),
			});
		},
	);

	test('a service that announces keep-alive and then resets the connection: each of ten calls is sent once', async () => {
		const kept = responseBytes('{"success":true,"data":{"call_id":"c"}}', {
			headers: 'Connection: keep-alive\r\nKeep-Alive: timeout=60\r\n',
		});
		const { port, posts } = await serving(({ socket, reset }) =>
			socket.write(kept, () => setImmediate(reset)),
		);
		const items = Array.from({ length: 10 }, (_, index) => ({ index }));
		const records = await placeEach(`http://127.0.0.1:${port}`, items);
		expect(posts).toHaveLength(10);
		for (const { call_id: callId, details } of records) {
			expect(callId ?? details).toEqual(
				callId === undefined ? expect.objectContaining({ outcome: 'unknown' }) : 'c',
			);
		}
	});
});

describe('a response', () => {
	test.each<[string, string | Buffer]>([
		['with headers without an end', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'],
		['of only 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
		[
			'in chunks without the last one',
			'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"success":true,\r\n',
		],
		[
			'of unknown length that ends early',
			'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"success":true,"data":{"call_id":"6f',
		],
		[
			'with two different lengths',
			'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\n{"a":1}',
		],
		[
			'of invalid compressed data',
			responseBytes('not gzip', { headers: 'Content-Encoding: gzip\r\n' }),
		],
	])(
		'%s, then the connection ends: the outcome is unknown, with one POST',
		async (_what, bytes) => {
			const result = await placeAgainst('http', ({ socket }) => socket.end(bytes));
			expect(result).toMatchObject({ outcome: 'unknown', posts: 1 });
		},
	);

	test('that arrives byte by byte, longer than the limit without data: the call is placed, with one POST', async () => {
		// 2.5 seconds of this clock pass between two bytes.
		speedUp(250);
		timeoutsByClock();
		const result = await placeAgainst('http', ({ socket }) => {
			socket.write(PLACED.subarray(0, HEAD));
			let sent = HEAD;
			const drip = setInterval(() => {
				if (sent === PLACED.length || !socket.writable) clearInterval(drip);
				else socket.write(PLACED.subarray(sent, ++sent));
			}, 10);
		});
		expect(result).toMatchObject({ outcome: 'placed', posts: 1 });
	});

	test('without an end is stopped: the outcome is unknown, with one POST', async () => {
		const pass = holdTimeouts();
		const result = await placeAgainst('http', ({ socket }) => {
			socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
			let written = 0;
			const drip = setInterval(() => {
				if (socket.writable) socket.write('1\r\n \r\n');
				else clearInterval(drip);
				if (++written === 20) pass(TIME_LIMITS.wholeMs);
			}, 5);
		});
		expect(result).toMatchObject({
			outcome: 'unknown',
			posts: 1,
			message: expect.stringContaining('No response arrived'),
		});
	});
});

describe('a certificate', () => {
	test.each<[string, () => TlsOptions]>([
		['signed by an unknown authority', () => makeCertificate('stranger', { hosts: ['127.0.0.1'] })],
		[
			'that has expired',
			() => makeCertificate('old', { ...forLocalhost, validFrom: -3, validTo: -1 }),
		],
		['that is not valid yet', () => makeCertificate('new', { ...forLocalhost, validFrom: 1 })],
		[
			'for another host',
			() => makeCertificate('other', { ...forLocalhost, hosts: ['voice.example.com'] }),
		],
		[
			'signed by a certificate that may not sign',
			() => makeCertificate('leaf', { hosts: ['127.0.0.1'], issuer: identity }),
		],
	])('%s: nothing was sent, and nothing arrived', async (_what, certificate) => {
		const { port, posts, connections } = await servingPlaced(certificate());
		expect(await place(`https://127.0.0.1:${port}`)).toEqual({
			outcome: 'not_sent',
			message: expect.stringContaining("The service can't be reached, so the request wasn't sent"),
		});
		expect(posts).toEqual([]);
		// One connection in each of the three attempts, because a repeat would get the same certificate.
		expect(connections()).toBe(3);
	});

	test('of the client, which the service rejects while the request is sent: the outcome is unknown', async () => {
		const { port, posts } = await servingPlaced({
			...identity,
			requestCert: true,
			rejectUnauthorized: true,
			minVersion: 'TLSv1.3',
		});
		expect(await place(`https://127.0.0.1:${port}`)).toMatchObject({ outcome: 'unknown' });
		expect(posts).toEqual([]);
	});

	test('that a server without TLS lacks: the outcome is unknown, as with a connection that breaks off', async () => {
		const greeter = await startGreeter((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
		const { outcome } = await place(`https://127.0.0.1:${greeter.port}`);
		await greeter.close();
		expect(outcome).toBe('unknown');
	});
});

/** What a proxy returns looks to n8n like a response of the service. */
describe('a proxy between n8n and the service', () => {
	test('that returns the response to an earlier POST: the second call is unknown, and nothing is sent again', async () => {
		const { port, posts } = await servingPlaced();
		const people = [{ phone: '9876543210' }, { phone: '9876543211' }];
		expect(await placeEach(`http://127.0.0.1:${port}`, people)).toEqual([
			expect.objectContaining({ call_id: CALL_ID }),
			expect.objectContaining({
				error: expect.stringContaining('The response has the ID of another call of this execution'),
			}),
		]);
		expect(posts).toHaveLength(2);
	});
});

describe('without a reachable service', () => {
	test('a port that rejects connections, or a host name that does not exist: nothing was sent', async () => {
		const { port, close } = await startGreeter(() => {});
		await close();
		const urls = [
			`http://127.0.0.1:${port}`,
			`http://localhost:${port}`,
			'https://voice-agent.invalid',
		];
		for (const url of urls) {
			expect(await place(url)).toMatchObject({
				outcome: 'not_sent',
				message: expect.stringContaining("can't be reached"),
			});
		}
	});

	test.each<[string, (socket: Socket) => void]>([
		['resets', (socket) => socket.resetAndDestroy()],
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
