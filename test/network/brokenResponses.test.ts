import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { TIME_LIMITS } from '../../nodes/shared/n8n/http/transport';
import {
	responseBytes,
	startBadService,
	type BadService,
	type Behaviour,
	type TcpConnection,
} from './badService';
import { makeCertificate } from './certificates';
import { placeCallHarness, type PlaceCallResult } from './placeCallHarness';

const { place, placeEach } = placeCallHarness();
const PLACED = responseBytes(
	'{"success":true,"data":{"call_id":"6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00"}}',
);
const HEAD = PLACED.indexOf('\r\n\r\n') + 4;

const authority = makeCertificate('Test authority', { isAuthority: true });
const identity = makeCertificate('service', { issuer: authority, hosts: ['127.0.0.1'] });
const trusted = getCACertificates('default');
let service: BadService | undefined;

beforeAll(() => setDefaultCACertificates([...trusted, authority.cert]));
afterAll(() => setDefaultCACertificates(trusted));
afterEach(async () => await service?.close());

/** What the node says, and how many POSTs arrived whole. */
async function against(
	scheme: string,
	behave: Behaviour,
): Promise<PlaceCallResult & { posts: number }> {
	await service?.close();
	service = await startBadService(behave, scheme === 'https' ? identity : undefined);
	const told = await place(`${scheme}://127.0.0.1:${service.port}`);
	return { ...told, posts: service.posts.length };
}

/** Ends the line after so many bytes of the answer have left. */
const after =
	(bytes: number, end: (line: TcpConnection) => void): Behaviour =>
	(line) => {
		if (bytes === 0) end(line);
		else line.socket.write(PLACED.subarray(0, bytes), () => end(line));
	};

/** Each byte of the head's first line, around its end, and of the body; in between every seventh. */
const OFFSETS = [...PLACED.keys()].filter(
	(offset) =>
		offset < 20 || Math.abs(offset - HEAD) < 4 || offset > PLACED.length - 6 || offset % 7 === 0,
);

describe.each(['http', 'https'])('over %s, after the request has arrived', (scheme) => {
	test.each<[string, (line: TcpConnection) => void]>([
		['reset', ({ reset }) => reset()],
		['half-closed', ({ socket }) => socket.end()],
		['closed', ({ socket }) => socket.destroy()],
	])(
		'a line that is %s at any byte of the answer: unknown, and one POST',
		async (_how, end) => {
			for (const offset of OFFSETS) {
				const { outcome, posts } = await against(scheme, after(offset, end));
				expect({ offset, outcome, posts }).toEqual({ offset, outcome: 'unknown', posts: 1 });
			}
		},
		60_000,
	);

	test('a line that is reset right after the answer: placed, or unknown where the answer is lost with it', async () => {
		const { outcome, posts } = await against(
			scheme,
			after(PLACED.length, ({ reset }) => reset()),
		);
		expect(['placed', 'unknown']).toContain(outcome);
		expect(posts).toBe(1);
	});

	test.each<[string, string | Buffer]>([
		['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n'],
		['a head without an end', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'],
		['a promise of 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
		['early hints', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'],
		[
			'chunks without the last one',
			'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"success":true,\r\n',
		],
		[
			'a body that ends early, of unknown length',
			'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"success":true,"data":{"call_id":"6f',
		],
		['no body', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
		['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\n{"a":1}'],
		['a damaged compression', responseBytes('not gzip', { headers: 'Content-Encoding: gzip\r\n' })],
	])('%s, and the line ends: unknown, and one POST', async (_what, bytes) => {
		const told = await against(scheme, ({ socket }) => socket.end(bytes));
		expect(told).toMatchObject({ outcome: 'unknown', posts: 1 });
	});

	describe('when patience is short', () => {
		let limit: jest.ReplaceProperty<number>;
		beforeEach(() => (limit = jest.replaceProperty(TIME_LIMITS, 'silenceMs', 500)));
		afterEach(() => limit.restore());

		test.each([0, 10, HEAD, HEAD + 10, PLACED.length - 1])(
			'an answer that stalls at byte %i: unknown, and one POST',
			async (offset) => {
				const told = await against(
					scheme,
					after(offset, () => {}),
				);
				expect(told).toMatchObject({
					outcome: 'unknown',
					posts: 1,
					originalMessage: expect.stringContaining('took too long'),
				});
			},
		);

		test('an answer that drips for longer than that, byte by byte: placed, and one POST', async () => {
			TIME_LIMITS.silenceMs = 1_500;
			const told = await against(scheme, ({ socket }) => {
				socket.write(PLACED.subarray(0, HEAD));
				let sent = HEAD;
				const drip = setInterval(() => {
					if (sent === PLACED.length || !socket.writable) clearInterval(drip);
					else socket.write(PLACED.subarray(sent, ++sent));
				}, 25);
			});
			expect(told).toMatchObject({ outcome: 'placed', posts: 1 });
		});
	});

	test('an answer that drips on without end is cut off: unknown, and one POST', async () => {
		const limit = jest.replaceProperty(TIME_LIMITS, 'wholeMs', 500);
		const told = await against(scheme, ({ socket }) => {
			socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
			const drip = setInterval(() => {
				if (socket.writable) socket.write('1\r\n \r\n');
				else clearInterval(drip);
			}, 25);
		});
		limit.restore();
		expect(told).toMatchObject({
			outcome: 'unknown',
			posts: 1,
			originalMessage: expect.stringContaining('took too long'),
		});
	});

	test('a service that promises to keep the line and then resets it: each of ten calls is placed, each once', async () => {
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
