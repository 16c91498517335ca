import { TIME_LIMITS } from '../../nodes/shared/n8n/http/transport';
import {
	responseBytes,
	startBadService,
	type BadService,
	type Behavior,
	type TcpConnection,
} from './badService';
import { holdTimeouts, speedUp, timeoutsByClock } from '../engine';
import { makeCertificate, trustedAuthority } from './certificates';
import { placeCallHarness, type PlaceCallResult } from './placeCallHarness';

const { place, placeEach } = placeCallHarness();
const PLACED = responseBytes(
	'{"success":true,"data":{"call_id":"6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00"}}',
);
const HEAD = PLACED.indexOf('\r\n\r\n') + 4;

const identity = makeCertificate('service', { issuer: trustedAuthority(), hosts: ['127.0.0.1'] });
let service: BadService | undefined;

afterEach(async () => {
	jest.restoreAllMocks();
	await service?.close();
});

/** The result of the node, and the number of complete POST requests. */
async function placeAgainst(
	scheme: string,
	behave: Behavior,
): Promise<PlaceCallResult & { posts: number }> {
	await service?.close();
	service = await startBadService(behave, scheme === 'https' ? identity : undefined);
	const result = await place(`${scheme}://127.0.0.1:${service.port}`);
	return { ...result, posts: service.posts.length };
}

/** Ends the connection after `bytes` bytes of the response. */
const after =
	(bytes: number, end: (connection: TcpConnection) => void): Behavior =>
	(connection) => {
		if (bytes === 0) end(connection);
		else connection.socket.write(PLACED.subarray(0, bytes), () => end(connection));
	};

/** Some bytes of the status line, each one around the end of the headers and at the end of the body, and some others. */
const OFFSETS = [...PLACED.keys()].filter(
	(offset) =>
		offset % 15 === 0 ||
		(offset < 20 && offset % 3 === 0) ||
		Math.abs(offset - HEAD) < 4 ||
		offset > PLACED.length - 6,
);

describe.each(['http', 'https'])('over %s, after the request has arrived', (scheme) => {
	test.each<[string, (connection: TcpConnection) => void]>([
		['reset', ({ reset }) => reset()],
		['half-closed', ({ socket }) => socket.end()],
		['closed', ({ socket }) => socket.destroy()],
	])(
		'a connection that is %s at any byte of the response: the outcome is unknown, with one POST',
		async (_how, end) => {
			for (const offset of OFFSETS) {
				const { outcome, posts } = await placeAgainst(scheme, after(offset, end));
				expect({ offset, outcome, posts }).toEqual({ offset, outcome: 'unknown', posts: 1 });
			}
		},
	);

	test('a connection that is reset right after the response: the call is placed, or unknown if the response is lost', async () => {
		const { outcome, posts } = await placeAgainst(
			scheme,
			after(PLACED.length, ({ reset }) => reset()),
		);
		expect(['placed', 'unknown']).toContain(outcome);
		expect(posts).toBe(1);
	});

	test.each<[string, string | Buffer]>([
		['a response that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
		['headers without an end', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'],
		['only 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
		['only early hints', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'],
		[
			'chunks without the last one',
			'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"success":true,\r\n',
		],
		[
			'a body of unknown length that ends early',
			'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"success":true,"data":{"call_id":"6f',
		],
		['no body', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
		[
			'two different lengths',
			'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\n{"a":1}',
		],
		[
			'invalid compressed data',
			responseBytes('not gzip', { headers: 'Content-Encoding: gzip\r\n' }),
		],
	])(
		'%s, then the connection ends: the outcome is unknown, with one POST',
		async (_what, bytes) => {
			const result = await placeAgainst(scheme, ({ socket }) => socket.end(bytes));
			expect(result).toMatchObject({ outcome: 'unknown', posts: 1 });
		},
	);

	describe('with a short time limit', () => {
		let limit: jest.ReplaceProperty<number> | undefined;
		afterEach(() => limit?.restore());

		test.each([0, 10, HEAD, HEAD + 10, PLACED.length - 1])(
			'a response that stalls at byte %i: the outcome is unknown, with one POST',
			async (offset) => {
				if (offset < HEAD) {
					// Until the end of the headers, axios measures the silence by the time of the machine.
					limit = jest.replaceProperty(TIME_LIMITS, 'silenceMs', 500);
				} else {
					speedUp(1_000);
					timeoutsByClock();
				}
				const result = await placeAgainst(
					scheme,
					after(offset, () => {}),
				);
				expect(result).toMatchObject({
					outcome: 'unknown',
					posts: 1,
					message: expect.stringContaining('No response arrived'),
				});
			},
		);

		test('a response that arrives byte by byte, longer than the limit without data: the call is placed, with one POST', async () => {
			// 2.5 seconds of this clock pass between two bytes.
			speedUp(250);
			timeoutsByClock();
			const result = await placeAgainst(scheme, ({ socket }) => {
				socket.write(PLACED.subarray(0, HEAD));
				let sent = HEAD;
				const drip = setInterval(() => {
					if (sent === PLACED.length || !socket.writable) clearInterval(drip);
					else socket.write(PLACED.subarray(sent, ++sent));
				}, 10);
			});
			expect(result).toMatchObject({ outcome: 'placed', posts: 1 });
		});
	});

	test('a response without an end is stopped: the outcome is unknown, with one POST', async () => {
		const pass = holdTimeouts();
		const result = await placeAgainst(scheme, ({ socket }) => {
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

	test('a service that announces keep-alive and then resets the connection: each of ten calls is sent once', async () => {
		const kept = responseBytes('{"success":true,"data":{"call_id":"c"}}', {
			headers: 'Connection: keep-alive\r\nKeep-Alive: timeout=60\r\n',
		});
		service = await startBadService(
			({ socket, reset }) => socket.write(kept, () => setImmediate(reset)),
			scheme === 'https' ? identity : undefined,
		);
		const items = Array.from({ length: 10 }, (_, index) => ({ index }));
		const records = await placeEach(`${scheme}://127.0.0.1:${service.port}`, items);
		expect(service.posts).toHaveLength(10);
		for (const { call_id: callId, details } of records) {
			expect(callId ?? details).toEqual(
				callId === undefined ? expect.objectContaining({ outcome: 'unknown' }) : 'c',
			);
		}
	});
});
